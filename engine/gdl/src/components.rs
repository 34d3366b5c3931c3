//! Strongly connected components.

/// The strongly connected component of each node (Tarjan 1972), with the recursion on a stack of our own:
/// the graph may be one long path. Components are numbered in such an order that edges lead to equal or
/// smaller numbers.
pub fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let n = edges.len();
    let (mut order, mut low) = (vec![UNSEEN; n], vec![0; n]);
    let mut component = vec![UNSEEN; n];
    let (mut n_seen, mut n_components) = (0, 0);
    let mut on_path: Vec<usize> = Vec::new();
    // A node and how many of its edges are done.
    let mut calls: Vec<(usize, usize)> = Vec::new();
    for root in 0..n {
        if order[root] != UNSEEN {
            continue;
        }
        calls.push((root, 0));
        while let Some((node, n_done)) = calls.last_mut() {
            let node = *node;
            if *n_done == 0 {
                order[node] = n_seen;
                low[node] = n_seen;
                n_seen += 1;
                on_path.push(node);
            }
            if let Some(&to) = edges[node].get(*n_done) {
                *n_done += 1;
                if order[to] == UNSEEN {
                    calls.push((to, 0));
                } else if component[to] == UNSEEN {
                    low[node] = low[node].min(order[to]);
                }
                continue;
            }
            if low[node] == order[node] {
                while let Some(member) = on_path.pop() {
                    component[member] = n_components;
                    if member == node {
                        break;
                    }
                }
                n_components += 1;
            }
            calls.pop();
            if let Some(&(caller, _)) = calls.last() {
                low[caller] = low[caller].min(low[node]);
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_components() {
        let edges = [vec![1], vec![2], vec![0, 3], vec![4], vec![], vec![5]];
        let component = components(&edges);
        assert!(component[0] == component[1] && component[1] == component[2]);
        assert_ne!(component[2], component[3]);
        assert_ne!(component[3], component[4]);
    }

    #[test]
    fn repeated_edges_and_late_back_edges_are_followed() {
        let edges = [vec![1, 1, 2], vec![0], vec![1, 3], vec![3, 0]];
        let component = components(&edges);
        assert!(component.iter().all(|&idx| idx == component[0]));
    }

    #[test]
    fn a_long_path_needs_no_deep_stack() {
        let n = 1_000_000;
        let edges: Vec<Vec<usize>> = (0..n).map(|idx| vec![(idx + 1) % n]).collect();
        assert!(components(&edges).iter().all(|&idx| idx == 0));
    }
}
