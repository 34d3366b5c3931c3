% Random games in pure Prolog, on the rules in the module `game`: what an embedded engine is measured against.
% The state is kept as facts; only the difference from state to state is retracted and asserted.
:- module(walk, [walk/1]).
:- use_module(library(apply)).
:- use_module(library(lists)).
:- use_module(library(ordsets)).

:- dynamic fact/2.

% fact(Fluent, Fact): where a fluent's fact is kept.
prepare :-
    forall(( clause(game:any_fluent(Fluent), Fact), nonvar(Fluent) ), assertz(fact(Fluent, Fact))),
    compile_predicates([fact/2]).

walk(Seconds) :-
    prepare,
    statistics(cputime, Begun),
    games(Begun, Seconds, 0, Transitions, 0, Games),
    statistics(cputime, Ended),
    Spent is Ended - Begun,
    format('{"transitions":~d,"rollouts":~d,"cpu_s":~6f}~n', [Transitions, Games, Spent]).

games(Begun, Seconds, Transitions0, Transitions, Games0, Games) :-
    findall(Fluent, game:r_init(Fluent), Fluents),
    sort(Fluents, State),
    add(State),
    play(State, Transitions0, Transitions1),
    Games1 is Games0 + 1,
    statistics(cputime, Now),
    (   Now - Begun >= Seconds
    ->  Transitions = Transitions1, Games = Games1
    ;   games(Begun, Seconds, Transitions1, Transitions, Games1, Games)
    ).

play(State, Transitions0, Transitions) :-
    (   game:r_terminal
    ->  forall(game:role_of_walk(Role), ignore(game:r_goal(Role, _))),
        remove(State),
        Transitions = Transitions0
    ;   findall(Role, game:role_of_walk(Role), Roles),
        maplist(choose, Roles, Chosen),
        Moves =.. [moves|Chosen],
        findall(Fluent, game:r_next(Fluent, Moves), Fluents),
        sort(Fluents, Next),
        ord_subtract(State, Next, Gone),
        ord_subtract(Next, State, Come),
        remove(Gone),
        add(Come),
        Transitions1 is Transitions0 + 1,
        play(Next, Transitions1, Transitions)
    ).

choose(Role, Move) :-
    findall(Move, game:r_legal(Role, Move), Found),
    sort(Found, Moves),
    length(Moves, N),
    Index is random(N),
    nth0(Index, Moves, Move).

add([]).
add([Fluent|Fluents]) :- where(Fluent, Fact), assertz(game:Fact), add(Fluents).

remove([]).
remove([Fluent|Fluents]) :- where(Fluent, Fact), retract(game:Fact), !, remove(Fluents).

where(Fluent, Fact) :- fact(Fluent, Fact), !.
where(Fluent, other_fluent(Fluent)).
