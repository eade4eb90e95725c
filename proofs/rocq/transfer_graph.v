(** T23, the proofs for graphs: it is enough that each rule keeps the relation for the values that its operands take in
    the two runs at hand, which is where finiteness and the conditions on masks are premises.

    Glossary (see transfer_sound.v)
      kept_along D program ss xs ys    each node in its turn keeps the relation: for the shadows ss and the values xs, ys
                                       that the inputs and the nodes before it have

    Headline theorem:
      T23  graph_causal_along    an output whose shadow ends at t or before does not depend on inputs after t

    Axioms: none. *)
From Coq Require Import ZArith Lia.
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import transfer transfer_sound.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Along.

Variable R : realFieldType.
Notation V := (value R).

Fixpoint kept_along D (program : seq (node V)) (ss : seq shadow) (xs ys : seq V) : Prop :=
  if program is nd :: rest then
    let picked (T : Type) (x0 : T) (env : seq T) := [seq nth x0 env i | i <- operands nd] in
    keeps D nd (picked _ s0 ss) (picked _ None xs) (picked _ None ys) /\
    kept_along D rest (rcons ss (rule nd (picked _ s0 ss))) (rcons xs (compute nd (picked _ None xs)))
      (rcons ys (compute nd (picked _ None ys)))
  else True.

(** What the names of programs stand for. *)
Lemma program_def (nd : node V) (rest : seq (node V)) (ss : seq shadow) (xs : seq V) k :
  [/\ run None xs [::] = xs,
      run None xs (nd :: rest) = run None (rcons xs (compute nd [seq nth None xs i | i <- operands nd])) rest,
      @abstract V ss [::] = ss /\
      abstract ss (nd :: rest) = abstract (rcons ss (rule nd [seq nth s0 ss i | i <- operands nd])) rest &
      @in_order R k [::] /\
      in_order k (nd :: rest) = all (fun i => (i < k)%N) (operands nd) && in_order k.+1 rest].
Proof. by []. Qed.

Lemma kept_along_def D (nd : node V) (rest : seq (node V)) ss xs ys :
  kept_along D [::] ss xs ys /\
  let us := [seq nth None xs i | i <- operands nd] in let vs := [seq nth None ys i | i <- operands nd] in
  let os := [seq nth s0 ss i | i <- operands nd] in
  kept_along D (nd :: rest) ss xs ys <->
  (rels D os us vs -> holds D (rule nd os) (compute nd us) (compute nd vs)) /\
  kept_along D rest (rcons ss (rule nd os)) (rcons xs (compute nd us)) (rcons ys (compute nd vs)).
Proof. by []. Qed.

Theorem graph_sound_along D (program : seq (node V)) : forall (ss : seq shadow) (xs ys : seq V),
  in_order (size ss) program -> rels D ss xs ys -> kept_along D program ss xs ys ->
  rels D (abstract ss program) (run None xs program) (run None ys program).
Proof.
elim: program => //= nd rest IH ss xs ys /andP[bounds order] rel [kept along].
apply: IH; rewrite ?size_rcons //; apply: rels_rcons => //; apply: kept.
case: rel => sx sy each; split; rewrite ?size_map // => i lt; rewrite !(nth_map 0%N) //; apply: each.
by apply: (all_nthP 0%N bounds).
Qed.

Theorem graph_causal_along (program : seq (node V)) (xs ys : seq V) (t : Z) (out : nat) :
  let inputs := [seq Shadow (Z.of_nat i) (Z.of_nat i) Varies | i <- iota 0 (size xs)] in
  size ys = size xs -> all isSome xs -> all isSome ys ->
  (forall i, (i < size xs)%N -> Z.le (Z.of_nat i) t -> nth None xs i = nth None ys i) ->
  in_order (size xs) program -> kept_along (fun d => Z.lt t d) program inputs xs ys ->
  (out < size (abstract inputs program))%N -> Z.le (hi (nth s0 (abstract inputs program) out)) t ->
  nth None (run None xs program) out = nth None (run None ys program) out.
Proof.
move=> inputs same fx fy agree order along lt early.
have rel : rels (fun d => Z.lt t d) inputs xs ys.
  rewrite /inputs; split; rewrite ?size_map ?size_iota // => i lti; rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n.
  split=> /= [far | ]; last by split; apply: (all_nthP None _) => //; rewrite same.
  apply: agree => //; case: (Z.le_gt_cases (Z.of_nat i) t) => // gt.
  by case: (far (Z.of_nat i)) => //; split; apply: Z.le_refl.
have size_in : size inputs = size xs by rewrite /inputs size_map size_iota.
rewrite -size_in in order; have [_ _ each] := graph_sound_along order rel along.
have [eq_out _] := each out lt; apply: eq_out => d later [_ dh].
have le : Z.le d t := Z.le_trans _ _ _ dh early.
by lia.
Qed.

End Along.
