(** T15: what safe layers build.

    Glossary
      layer X Y        a map from sequences over X to sequences over Y; a sequence has a value at each of n positions
      allowed t j      the information boundary: position t may use position j
      layer_safe       equal inputs at the positions allowed to t give equal outputs at t
      stack            layers applied one after the other; stack [::] is the identity
      attention_layer  a compressed head whose queries, keys and values are computed position by position from its input

    Headline theorems:
      T15  layer_safe_def        the definition
      T15  compose_safe          transitive boundary: the composition of two safe layers is safe
      T15  positionwise_safe     reflexive boundary: position-wise maps are safe
      T15  residual_safe         reflexive boundary: functions of input and output, position by position, are safe
      T15  stack_safe            reflexive and transitive boundary: stacks of safe layers are safe
      T15  attention_layer_safe  reflexive boundary: a prefix-safe head makes a safe layer
      T15  prefix_preorder, documents_preorder, bidirectional_preorder    boundaries that are both
      T15  strict_not_reflexive, by_time_not_transitive                   boundaries that are not
      T15  by_time_stack_leaks   available (1,1,5), decision (2,5,5): two safe layers stack to a leak
      T15  leaking_layer_leaks   a leaking layer among layers that are the identity makes the stack leak

    Axioms: none. *)
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import causal_head.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

Section Layers.

Variables (n : nat) (allowed : rel 'I_n).

Definition layer X Y := ('I_n -> X) -> 'I_n -> Y.

Definition layer_safe X Y (f : layer X Y) :=
  forall t x x', (forall j, allowed t j -> x j = x' j) -> f x t = f x' t.

Lemma layer_safe_def X Y (f : layer X Y) :
  layer_safe f <-> forall t x x', (forall j, allowed t j -> x j = x' j) -> f x t = f x' t.
Proof. by []. Qed.

Theorem compose_safe X Y Z (f : layer X Y) (g : layer Y Z) :
  (forall t j k, allowed t j -> allowed j k -> allowed t k) ->
  layer_safe f -> layer_safe g -> layer_safe (fun x => g (f x)).
Proof.
move=> trans safe_f safe_g t x x' same; apply: safe_g => j tj; apply: safe_f => k jk.
exact/same/(trans t j).
Qed.

Section Reflexive.

Hypothesis refl : forall t, allowed t t.

Theorem positionwise_safe X Y (h : 'I_n -> X -> Y) : layer_safe (fun x t => h t (x t)).
Proof. by move=> t x x' same; rewrite same. Qed.

Theorem residual_safe X Y Z (combine : 'I_n -> X -> Y -> Z) (f : layer X Y) :
  layer_safe f -> layer_safe (fun x t => combine t (x t) (f x t)).
Proof. by move=> safe t x x' same; rewrite same // (safe t x x'). Qed.

Definition stack X (layers : seq (layer X X)) : layer X X := foldr (fun f g x => g (f x)) id layers.

Theorem stack_safe X (layers : seq (layer X X)) :
  (forall t j k, allowed t j -> allowed j k -> allowed t k) ->
  (forall k, (k < size layers)%N -> layer_safe (nth id layers k)) -> layer_safe (stack layers).
Proof.
move=> trans; elim: layers => [|f layers IH] safe /=; first by move=> t x x' ->.
by apply: compose_safe => //; [exact: (safe 0%N) | apply: IH => k lt; apply: (safe k.+1)].
Qed.

End Reflexive.

End Layers.

(** ** A compressed head as a layer *)

Section Attention.

Variables (R : realFieldType) (e : R -> R) (scale : R) (r n d dv : nat) (E F : 'M[R]_(r, n)).
Variables (allowed : rel 'I_n) (visible : 'I_n -> pred 'I_r).
Variables (X : Type) (query : X -> 'rV[R]_d) (key : X -> 'rV[R]_d) (value : X -> 'rV[R]_dv).

(** A query that sees no slot gets 0, as in the kit's reference head. *)
Definition attention_layer : layer n X 'rV[R]_dv := fun x t =>
  head e scale E F (visible t) (query (x t)) (\matrix_j key (x j)) (\matrix_j value (x j)).

Theorem attention_layer_safe :
  (forall t, allowed t t) -> prefix_safe e scale d dv E F (fun t => allowed t) visible ->
  layer_safe allowed attention_layer.
Proof.
move=> refl safe t x x' same; rewrite /attention_layer (same t (refl t)).
have [s seen | none] := pickP (visible t).
  apply: safe; first by exists s.
    by move=> j allj; rewrite !rowK same.
  by move=> j allj; rewrite !rowK same.
suff starved (q : 'rV[R]_d) K V : head e scale E F (visible t) q K V = 0 :> 'rV[R]_dv by rewrite !starved.
rewrite /head (_ : weights e scale E (visible t) q K = 0) ?mul0mx //.
by apply/rowP => s; rewrite !mxE none.
Qed.

End Attention.

(** ** Which boundaries are reflexive and transitive *)

Theorem prefix_preorder n : let allowed : rel 'I_n := fun t j => (j <= t)%N in
  (forall t, allowed t t) /\ (forall t j k, allowed t j -> allowed j k -> allowed t k).
Proof. by split=> [t | t j k tj jk] /=; rewrite ?leqnn //; apply: leq_trans jk tj. Qed.

Theorem documents_preorder n (document : 'I_n -> nat) :
  let allowed : rel 'I_n := fun t j => (document j == document t) && (j <= t)%N in
  (forall t, allowed t t) /\ (forall t j k, allowed t j -> allowed j k -> allowed t k).
Proof.
split=> [t | t j k /andP[/eqP dj tj] /andP[/eqP dk jk]] /=; first by rewrite eqxx leqnn.
by rewrite dk dj eqxx (leq_trans jk tj).
Qed.

Theorem bidirectional_preorder n : let allowed : rel 'I_n := fun _ _ => true in
  (forall t, allowed t t) /\ (forall t j k, allowed t j -> allowed j k -> allowed t k).
Proof. by []. Qed.

Theorem strict_not_reflexive n (t : 'I_n) : ~~ (t < t)%N.
Proof. by rewrite ltnn. Qed.

(** ** By time: two safe layers that stack to a leak *)

Section ByTime.

Definition available : 'I_3 -> nat := fun j => nth 0%N [:: 1; 1; 5]%N j.
Definition decision : 'I_3 -> nat := fun t => nth 0%N [:: 2; 5; 5]%N t.
Definition by_time : rel 'I_3 := fun t j => (available j <= decision t)%N.

Theorem by_time_not_transitive : [/\ by_time 0 1, by_time 1 2%:R & ~~ by_time 0 2%:R].
Proof. by []. Qed.

(** Position 1 takes what position 2 holds; then position 0 takes what position 1 holds. *)
Definition one_takes_two X : layer 3 X X := fun x t => if t == 1 then x 2%:R else x t.
Definition zero_takes_one X : layer 3 X X := fun x t => if t == 0 then x 1 else x t.

Theorem by_time_stack_leaks (X : Type) (a b : X) : a <> b ->
  [/\ layer_safe by_time (@one_takes_two X), layer_safe by_time (@zero_takes_one X) &
      exists x x', (forall j, by_time 0 j -> x j = x' j) /\
        stack [:: @one_takes_two X; @zero_takes_one X] x 0 <> stack [:: @one_takes_two X; @zero_takes_one X] x' 0].
Proof.
have own t : by_time t t by case: t => -[|[|[|]]].
move=> neq; split.
- move=> t x x' same; rewrite /one_takes_two; case: eqP => [t1 | _]; last exact/same/own.
  by apply: same; rewrite t1.
- move=> t x x' same; rewrite /zero_takes_one; case: eqP => [t0 | _]; last exact/same/own.
  by apply: same; rewrite t0.
exists (fun=> a), (fun j => if j == 2%:R then b else a); split=> [j | //].
by case: eqP => // ->.
Qed.

End ByTime.

(** A leaking layer among layers that are the identity. *)
Theorem leaking_layer_leaks n (allowed : rel 'I_n) X (f : layer n X X) before after :
  ~ layer_safe allowed f -> ~ layer_safe allowed (stack (nseq before id ++ f :: nseq after id)).
Proof.
move=> leak safe; apply: leak => t x x' same.
have idle k y : stack (nseq k id) y = y :> ('I_n -> X) by elim: k => //= k ->.
have through y : stack (nseq before id ++ f :: nseq after id) y = f y :> ('I_n -> X).
  by elim: before {safe} => [|k IH] /=; rewrite ?idle.
by rewrite -!through; apply: safe.
Qed.
