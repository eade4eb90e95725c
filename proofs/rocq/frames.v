(** T25: frames of reference. Rows may be moved by a permutation that depends on data, as long as what is done to a row
    does not depend on where it stands.

    Glossary
      pi, back           an order of the n rows and its inverse; row i of the moved sequence is row pi i of the given one
      f i x              what happens to the row x of place i
      key x              the group of a row; weight g the matrix of group g
      target j           where row j is added

    Headline theorems:
      T25  rowwise_frame      a row-wise function commutes with pi: back in place, no row depends on pi
      T25  grouped_frame      so does a product with the matrix of a row's group
      T25  scattered_frame    a sum over the rows of equal target does not depend on pi, and on no row of another target

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

Section Frames.

Variables (n : nat) (X Y : Type).

(** Rows moved by pi, something done to each, rows moved back. *)
Theorem rowwise_frame (pi back pi' back' : 'I_n -> 'I_n) (f : X -> Y) (x x' : 'I_n -> X) i :
  cancel back pi -> cancel back' pi' -> x i = x' i ->
  f (x (pi (back i))) = f (x i) /\ f (x (pi (back i))) = f (x' (pi' (back' i))).
Proof. by move=> backK backK' same; rewrite backK backK' same. Qed.

End Frames.

Section Groups.

Variables (R : ringType) (n a b : nat) (G : Type) (key : 'rV[R]_a -> G) (weight : G -> 'M[R]_(a, b)).

(** A product whose row i uses the matrix of the group of the row that stands there. *)
Theorem grouped_frame (pi back pi' back' : 'I_n -> 'I_n) (X X' : 'M[R]_(n, a)) i :
  cancel back pi -> cancel back' pi' -> row i X = row i X' ->
  let moved pi X j := row (pi j) X *m weight (key (row (pi j) X)) in
  moved pi X (back i) = row i X *m weight (key (row i X)) /\ moved pi X (back i) = moved pi' X' (back' i).
Proof. by move=> backK backK' same moved; rewrite /moved backK backK' same. Qed.

Theorem scattered_frame (pi pi' : 'I_n -> 'I_n) (T : eqType) (target : 'I_n -> T) (x x' : 'I_n -> 'rV[R]_b) t :
  injective pi -> injective pi' -> (forall j, target j = t -> x j = x' j) ->
  let added pi x := \sum_(j | target (pi j) == t) x (pi j) in
  added pi x = \sum_(j | target j == t) x j /\ added pi x = added pi' x'.
Proof.
move=> inj inj' same added; have addedE rho y : injective rho -> added rho y = \sum_(j | target j == t) y j.
  by move=> rho_inj; rewrite /added [RHS](reindex_inj rho_inj).
by split; rewrite !addedE //; apply: eq_bigr => j /eqP /same.
Qed.

End Groups.
