//! Least squares.

/// Coefficients, and how far the numbers are from what they make of their terms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit<const N: usize> {
    /// One for each term.
    pub coefficients: [f64; N],
    /// The root of the mean square of the relative differences.
    pub error: f64,
}

impl<const N: usize> Fit<N> {
    /// The coefficients with the least sum of squared relative differences between each number and the sum of its terms
    /// times them; none if the terms do not determine them. Relative, since numbers differ by orders of magnitude, and
    /// the largest would decide alone.
    pub fn of(rows: &[([f64; N], f64)]) -> Option<Fit<N>> {
        let scaled: Vec<[f64; N]> = rows.iter().map(|(terms, y)| terms.map(|term| term / y)).collect();
        // The normal equations, with their right side in the last column.
        let mut equations: Vec<Vec<f64>> = (0..N)
            .map(|i| {
                let products = |j: usize| scaled.iter().map(|terms| terms[i] * terms[j]).sum();
                (0..N).map(products).chain([scaled.iter().map(|terms| terms[i]).sum()]).collect()
            })
            .collect();
        let coefficients = solve(&mut equations)?;
        let differences = scaled.iter().map(|terms| {
            let told: f64 =
                terms.iter().zip(&coefficients).map(|(term, coefficient)| term * coefficient).sum();
            (told - 1.0).powi(2)
        });
        let error = (differences.sum::<f64>() / rows.len() as f64).sqrt();
        Some(Fit { coefficients: coefficients.try_into().ok()?, error })
    }
}

/// Gaussian elimination with pivots; none if the equations have no single solution.
fn solve(equations: &mut [Vec<f64>]) -> Option<Vec<f64>> {
    let n = equations.len();
    for column in 0..n {
        let largest =
            (column..n).max_by(|&a, &b| equations[a][column].abs().total_cmp(&equations[b][column].abs()))?;
        equations.swap(column, largest);
        let pivot = equations[column].clone();
        let most = pivot.iter().fold(0.0, |most: f64, it| most.max(it.abs()));
        // Never with numbers that are none, either.
        let is_usable = pivot[column].abs() > f64::EPSILON * most;
        if !is_usable {
            return None;
        }
        for (row, equation) in equations.iter_mut().enumerate() {
            let factor = equation[column] / pivot[column];
            if row != column {
                equation.iter_mut().zip(&pivot).for_each(|(it, pivot)| *it -= factor * pivot);
            }
        }
    }
    Some((0..n).map(|row| equations[row][n] / equations[row][row]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_numbers_were_made_of_is_found() {
        let made = |a: f64, b: f64, c: f64| 50.0 * a + 7.0 * b + 2.5 * c;
        let terms =
            [[1.0, 2.0, 4.0], [1.0, 8.0, 16.0], [1.0, 4.0, 512.0], [1.0, 64.0, 8192.0], [1.0, 64.0, 128.0]];
        let rows: Vec<_> = terms.iter().map(|&terms| (terms, made(terms[0], terms[1], terms[2]))).collect();
        let fit = Fit::of(&rows).expect("the terms differ");
        for (found, wanted) in fit.coefficients.into_iter().zip([50.0, 7.0, 2.5]) {
            assert!((found - wanted).abs() < 1e-6 * wanted, "{fit:?}");
        }
        assert!(fit.error < 1e-9, "{fit:?}");
    }

    #[test]
    fn the_error_is_relative() {
        // Half of the numbers are a tenth above the line, half a tenth below.
        let rows: Vec<_> = (1..=1000u32)
            .map(|x| ([f64::from(x)], f64::from(x) * if x % 2 == 0 { 1.1 } else { 0.9 }))
            .collect();
        let fit = Fit::of(&rows).expect("a line has a slope");
        assert!((0.09..0.11).contains(&fit.error), "{fit:?}");
        assert!((0.97..1.0).contains(&fit.coefficients[0]), "{fit:?}");
    }

    #[test]
    fn terms_that_say_the_same_determine_nothing() {
        assert_eq!(Fit::of(&[([1.0, 2.0], 3.0), ([2.0, 4.0], 6.0), ([3.0, 6.0], 9.0)]), None);
        assert_eq!(Fit::<2>::of(&[]), None);
        assert_eq!(Fit::of(&[([1.0], f64::NAN)]), None);
    }
}
