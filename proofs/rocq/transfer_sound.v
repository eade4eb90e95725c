(** T23, the proofs: the rules of transfer.v are sound, and a graph of sound rules is causal.

    Glossary (see transfer.v)
      value              Some x a finite number, None minus infinity; a NaN is nobody's value: what a rule needs to be
                         finite is a premise
      D                  the ranks at which the inputs of the two runs differ
      clean D l h        no rank from l to h is among them
      holds D s x y      what the shadow s says of an element that is x in one run and y in the other: equal where s is
                         clean, and of the kind that s says in both
      weight             what the exponential makes of a score: 0 of minus infinity, above 0 of a number unless the run
                         says that it vanishes, which is then a condition
      node               operands (by place), what the operation computes, and its rule

    Headline theorems:
      T23  joined_sound     pointwise functions and joins over axes; with it scanned_sound, added_sound,
           multiplied_sound, exponential_sound, selected_sound, summed_sound, contracted_sound
      T23  graph_causal     an output whose shadow ends at t or before does not depend on inputs after t

    Axioms: none. *)
From Coq Require Import ZArith Lia.
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import transfer.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition clean (D : Z -> Prop) (l h : Z) := forall d, D d -> ~ (Z.le l d /\ Z.le d h).

Lemma join_inside (ss : seq shadow) i : (i < size ss)%N -> forall s0,
  Z.le (join_lo ss) (lo (nth s0 ss i)) /\ Z.le (hi (nth s0 ss i)) (join_hi ss).
Proof.
elim: ss i => //= s ss IH [|i] lt s0 /=; first by lia.
by have := IH i lt s0; lia.
Qed.

Lemma clean_join D (ss : seq shadow) i s0 : (i < size ss)%N -> clean D (join_lo ss) (join_hi ss) ->
  clean D (lo (nth s0 ss i)) (hi (nth s0 ss i)).
Proof. by move=> lt far d Dd [ld dh]; apply: (far d Dd); have := join_inside lt s0; lia. Qed.

Section Values.

Variable R : realFieldType.

Definition value := option R.

Definition above (x : value) : bool := if x is Some a then 0 < a else false.

Definition meaning (k : kind) (x y : value) : Prop :=
  match k with
  | Varies | Masked => isSome x /\ isSome y
  | Positive => above x /\ above y
  | Fixed => x = y
  | Plain | Big => x = y /\ isSome x
  | Zero => x = Some 0 /\ y = Some 0
  | Neginf => x = None /\ y = None
  end.

Definition holds (D : Z -> Prop) (s : shadow) (x y : value) : Prop :=
  (clean D (lo s) (hi s) -> x = y) /\ meaning (kind_of s) x y.

Definition known (s : shadow) : bool := if kind_of s is Fixed then false else true.

Lemma constant_same k x y : constant k -> meaning k x y -> x = y.
Proof. by case: k => //= _ [ex ey]; rewrite ex ?ey. Qed.

Lemma assemble_holds D l h k x y : (clean D l h -> x = y) -> meaning k x y -> holds D (assemble l h k) x y.
Proof.
rewrite /assemble => same mean; case C : (constant k); last by split.
by split=> //= _; apply: (constant_same C mean).
Qed.

(** Operands: shadows and the values of the two runs, one by one. *)
Definition s0 : shadow := Shadow none_lo none_hi Zero.

Definition rels D (ss : seq shadow) (xs ys : seq value) : Prop :=
  [/\ size xs = size ss, size ys = size ss &
      forall i, (i < size ss)%N -> holds D (nth s0 ss i) (nth None xs i) (nth None ys i)].

Lemma rels_same D ss xs ys : rels D ss xs ys -> clean D (join_lo ss) (join_hi ss) -> xs = ys.
Proof.
case=> sx sy each far; apply: (@eq_from_nth _ None) => [|i]; rewrite sx // => lt.
by have [same _] := each i lt; apply: same; apply: clean_join.
Qed.

Lemma rels_constant D ss xs ys : rels D ss xs ys -> all_constant ss -> xs = ys.
Proof.
case=> sx sy each con; apply: (@eq_from_nth _ None) => [|i]; rewrite sx // => lt.
have [_ mean] := each i lt; apply: constant_same mean.
by apply: (all_nthP s0 con).
Qed.

Theorem joined_sound D ss xs ys (f : seq value -> value) : rels D ss xs ys -> isSome (f xs) -> isSome (f ys) ->
  holds D (joined ss) (f xs) (f ys).
Proof.
move=> rel fx fy; apply: assemble_holds; first by move/(rels_same rel) ->.
by case con: (all_constant ss) => //=; rewrite (rels_constant rel con).
Qed.

Lemma scanned_sound D ss xs ys (f : seq value -> value) i : rels D ss xs ys ->
  isSome (f (take i.+1 xs)) -> isSome (f (take i.+1 ys)) -> holds D (scanned ss i) (f (take i.+1 xs)) (f (take i.+1 ys)).
Proof.
case=> sx sy each fx fy; apply: joined_sound => //; split; rewrite ?size_take ?sx ?sy // => j.
move=> lt; have /andP[ltj lts] : (j < i.+1)%N && (j < size ss)%N.
  by move: lt; case: (ltnP i.+1 (size ss)) => h lt; rewrite lt /=; [exact: ltn_trans lt h | rewrite andbT; exact: leq_trans lt h].
by rewrite !nth_take //; apply: each.
Qed.

(** *** Sums and products of two *)

Definition plus (x y : value) : value := if (x, y) is (Some a, Some b) then Some (a + b) else None.
Definition times (x y : value) : value := if (x, y) is (Some a, Some b) then Some (a * b) else None.

Lemma pair_same D (x y : shadow) a a' b b' : holds D x a a' -> holds D y b b' ->
  clean D (join_lo [:: x; y]) (join_hi [:: x; y]) -> a = a' /\ b = b'.
Proof.
move=> [sx _] [sy _] far; split; [apply: sx | apply: sy].
  exact: (@clean_join D [:: x; y] 0 s0 isT far).
exact: (@clean_join D [:: x; y] 1 s0 isT far).
Qed.

Ltac settle := repeat match goal with
  | H : _ /\ _ |- _ => destruct H
  | H : Some _ = Some _ |- _ => case: H => H
  | H : None = Some _ |- _ => discriminate H
  | H : Some _ = None |- _ => discriminate H
  end; subst; rewrite /plus /times ?(add0r, addr0, mul0r, mulr0) //=;
  try by (split; rewrite ?(add0r, addr0, mul0r, mulr0) //; first [exact: addr_gt0 | exact: mulr_gt0]).

Lemma sum_meaning p q a a' b b' : p <> Fixed -> q <> Fixed -> meaning p a a' -> meaning q b b' ->
  meaning (sum_kind p q) (plus a b) (plus a' b').
Proof.
by case: p => // _; case: q => // _ /=; case: a => [a|]; case: a' => [a'|] //=; case: b => [b|];
  case: b' => [b'|] //=; move=> ma mb; settle.
Qed.

Lemma product_meaning p q a a' b b' : meaning p a a' -> meaning q b b' ->
  isSome (times a b) -> isSome (times a' b') -> meaning (product_kind p q) (times a b) (times a' b').
Proof.
by case: p; case: q => /=; case: a => [a|]; case: a' => [a'|] //=; case: b => [b|];
  case: b' => [b'|] //=; move=> ma mb _ _; settle.
Qed.

Lemma known_not_fixed (s : shadow) : known s -> kind_of s <> Fixed.
Proof. by rewrite /known; case: (kind_of s). Qed.

Theorem added_sound D (x y : shadow) a a' b b' : known x -> known y -> holds D x a a' -> holds D y b b' ->
  holds D (added x y) (plus a b) (plus a' b').
Proof.
move=> kx ky hx hy; apply: assemble_holds; first by move=> /(pair_same hx hy)[-> ->].
by apply: sum_meaning; [exact: known_not_fixed | exact: known_not_fixed | case: hx | case: hy].
Qed.

Theorem multiplied_sound D (x y : shadow) a a' b b' : holds D x a a' -> holds D y b b' ->
  isSome (times a b) -> isSome (times a' b') -> holds D (multiplied x y) (times a b) (times a' b').
Proof.
move=> hx hy fin fin'; apply: assemble_holds; first by move=> /(pair_same hx hy)[-> ->].
by apply: product_meaning => //; [case: hx | case: hy].
Qed.

(** *** Exponentials and selections *)

Section Weight.

Variable weight : value -> R.
Hypothesis weight_none : weight None = 0.

(** What the run says of a score: that its weight vanishes, a condition for masked ones, or else that it is above 0. *)
Definition told (vanishes : bool) (x : value) : Prop :=
  if vanishes then weight x = 0 else forall a, x = Some a -> 0 < weight x.

Theorem exponential_sound D (v : bool) (x : shadow) a a' :
  (v -> kind_of x = Masked) -> told v a -> told v a' -> holds D x a a' ->
  holds D (exponential_of v x) (Some (weight a)) (Some (weight a')).
Proof.
move=> only ta ta' [same mean]; apply: assemble_holds; first by move=> /same ->.
move: only ta ta' mean; case: v => [/(_ isT) -> /= -> -> //|] _ ta ta' mean.
case: (kind_of x) mean => /=; case: a ta {same} => [a|]; case: a' ta' => [a'|] //= ta' ta; move=> m; settle.
all: by rewrite ?weight_none //; split; first [exact: ta | exact: ta'].
Qed.

End Weight.

Definition choose (c x y : value) : value := if c == Some 0 then y else x.

(** A constant condition is 0 exactly where its kind says so: constants have been looked at. *)
Theorem selected_sound D (c x y : shadow) u u' a a' b b' :
  (constant (kind_of c) -> (u == Some 0) = is_zero (kind_of c)) ->
  holds D c u u' -> holds D x a a' -> holds D y b b' -> isSome a /\ isSome a' /\ isSome b /\ isSome b' \/
    (kind_of x = Neginf /\ kind_of y = Neginf) \/ constant (kind_of c) ->
  holds D (selected c x y) (choose u a b) (choose u' a' b').
Proof.
move=> looked [su mu] hx hy fin; rewrite /selected /choose; case C : (constant (kind_of c)).
  rewrite -(constant_same C mu) (looked C); case: (is_zero _); case: hx => sx mx; case: hy => sy my; exact: assemble_holds.
apply: assemble_holds => [far | ].
  have far1 : clean D (lo c) (hi c) by exact: (@clean_join D [:: c; x; y] 0 s0 isT far).
  have far2 : clean D (lo x) (hi x) by exact: (@clean_join D [:: c; x; y] 1 s0 isT far).
  have far3 : clean D (lo y) (hi y) by exact: (@clean_join D [:: c; x; y] 2 s0 isT far).
  by rewrite (su far1) (hx.1 far2) (hy.1 far3).
have mx := hx.2; have my := hy.2.
have fins : ~~ (is_neginf (kind_of x) && is_neginf (kind_of y)) -> [/\ isSome a, isSome a', isSome b & isSome b'].
  case: fin => [[? [? []]] // | [[-> ->] // | con]]; by rewrite con in C.
move: fins mx my; case: (kind_of x); case: (kind_of y) => /= fins mx my; try (have := fins isT; clear fins; case=> ? ? ? ?);
  case: (u == Some 0); case: (u' == Some 0); settle.
Qed.

(** *** Sums, contractions, scans *)

Definition total (xs : seq value) : value := foldr plus (Some 0) xs.

Lemma total_zero xs : all (fun x => x == Some 0) xs -> total xs = Some 0.
Proof. by elim: xs => //= x xs IH /andP[/eqP -> /IH ->]; rewrite /plus addr0. Qed.

Lemma total_above xs : all (fun x => above x || (x == Some 0)) xs -> has above xs -> above (total xs).
Proof.
have weak ys : all (fun x => above x || (x == Some 0)) ys -> above (total ys) || (total ys == Some 0).
  elim: ys => [_ | y ys IH /= /andP[hy /IH]]; first by rewrite /= eqxx orbT.
  case: y hy => [a|] //=; case: (total ys) => [b|] //= hy hb.
  have a0 : 0 <= a by case/orP: hy => [/ltW // | /eqP[->]].
  have b0 : 0 <= b by case/orP: hb => [/ltW // | /eqP[->]].
  rewrite /plus /=; have := addr_ge0 a0 b0; rewrite le_eqVlt => /orP[/eqP <- | -> //]; by rewrite eqxx orbT.
elim: xs => //= x xs IH /andP[hx hxs] /orP[xp | /(IH hxs)].
  have := weak xs hxs; case: x xp hx => [a|] //= a0 _; case: (total xs) => [b|] //=; rewrite /plus /= => /orP[b0 | /eqP[->]].
    exact: addr_gt0.
  by rewrite addr0.
case: x hx => [a|] //=; case: (total xs) => [b|] //= hx b0; rewrite /plus /=.
by case/orP: hx => [a0 | /eqP[->]]; [exact: addr_gt0 | rewrite add0r].
Qed.

Lemma each_kind D ss xs ys (P : kind -> bool) (Q : value -> bool) : rels D ss xs ys ->
  (forall k x y, P k -> meaning k x y -> Q x /\ Q y) -> all (fun s => P (kind_of s)) ss -> all Q xs /\ all Q ys.
Proof.
case=> sx sy each imp /(all_nthP s0) allP; split; apply/(all_nthP None) => i; rewrite ?sx ?sy => lt.
  by case: (imp _ _ _ (allP i lt) (each i lt).2).
by case: (imp _ _ _ (allP i lt) (each i lt).2).
Qed.

Lemma some_kind D ss xs ys (P : kind -> bool) (Q : value -> bool) : rels D ss xs ys ->
  (forall k x y, P k -> meaning k x y -> Q x /\ Q y) -> has (fun s => P (kind_of s)) ss -> has Q xs /\ has Q ys.
Proof.
case=> sx sy each imp /(has_nthP s0)[i lt Pi]; have [Qx Qy] := imp _ _ _ Pi (each i lt).2.
by split; apply/(has_nthP None); exists i; rewrite ?sx ?sy.
Qed.

Lemma zero_meaning k x y : is_zero k -> meaning k x y -> (x == Some 0) /\ (y == Some 0).
Proof. by case: k => //= _ [-> ->]; rewrite !eqxx. Qed.

Lemma positive_meaning k x y : is_positive k -> meaning k x y -> above x /\ above y.
Proof. by case: k. Qed.

Lemma nonnegative_meaning k x y : is_positive k || is_zero k -> meaning k x y ->
  (above x || (x == Some 0)) /\ (above y || (y == Some 0)).
Proof. by case: k => //= _ [-> ->]; rewrite ?eqxx ?orbT. Qed.

Theorem summed_sound D ss xs ys : rels D ss xs ys -> isSome (total xs) -> isSome (total ys) ->
  holds D (summed ss) (total xs) (total ys).
Proof.
move=> rel fx fy; apply: assemble_holds; first by move/(rels_same rel) ->.
case Z : (all _ ss).
  have [zx zy] := each_kind rel zero_meaning Z; by rewrite /= !total_zero.
case P : (_ && _).
  move/andP: P => [nonneg some]; have [nx ny] := each_kind rel nonnegative_meaning nonneg.
  by have [px py] := some_kind rel positive_meaning some; split; apply: total_above.
by case con: (all_constant ss) => //=; rewrite (rels_constant rel con).
Qed.

Lemma total_eq (xs ys : seq value) : size xs = size ys ->
  (forall i, (i < size xs)%N -> nth None xs i = nth None ys i) -> total xs = total ys.
Proof. by move=> same each; congr total; apply: (@eq_from_nth _ None). Qed.

(** sum_k x_k y_k; the two halves of `ps` are related to (xs, us) and (ys, vs). *)
Definition dot (xs ys : seq value) : value := total [seq times p.1 p.2 | p <- zip xs ys].

Theorem contracted_sound D ps (xs us ys vs : seq value) :
  rels D [seq p.1 | p <- ps] xs us -> rels D [seq p.2 | p <- ps] ys vs ->
  all isSome xs -> all isSome us -> all isSome ys -> all isSome vs ->
  isSome (dot xs ys) -> isSome (dot us vs) -> holds D (contracted ps) (dot xs ys) (dot us vs).
Proof.
case=> sx su each_x [sy sv each_y] fx fu fy fv fin fin'.
have [{}sx {}su {}sy {}sv] : [/\ size xs = size ps, size us = size ps, size ys = size ps & size vs = size ps].
  by rewrite sx su sy sv !size_map.
have pair i : (i < size ps)%N -> let p := nth (s0, s0) ps i in
    [/\ holds D p.1 (nth None xs i) (nth None us i), holds D p.2 (nth None ys i) (nth None vs i),
        isSome (nth None xs i) && isSome (nth None us i) & isSome (nth None ys i) && isSome (nth None vs i)].
  move=> lt p; have := each_x i; have := each_y i; rewrite !size_map !(nth_map (s0, s0)) // => /(_ lt) hy /(_ lt) hx.
  by split=> //; rewrite !(all_nthP None _) ?sx ?su ?sy ?sv.
have entry (zs ws : seq value) i : size zs = size ps -> size ws = size ps -> (i < size ps)%N ->
    nth None [seq times p.1 p.2 | p <- zip zs ws] i = times (nth None zs i) (nth None ws i).
  by move=> sz sw lt; rewrite (nth_map (None, None)) ?size_zip ?sz ?sw ?minnn // nth_zip ?sz ?sw.
have sizes (zs ws : seq value) : size zs = size ps -> size ws = size ps -> size [seq times p.1 p.2 | p <- zip zs ws] = size ps.
  by move=> sz sw; rewrite size_map size_zip sz sw minnn.
(* each product is the same where what it reads is the same *)
have product i : (i < size ps)%N -> let p := nth (s0, s0) ps i in
    ((is_zero (kind_of p.1) \/ nth None ys i = nth None vs i) ->
     (is_zero (kind_of p.2) \/ nth None xs i = nth None us i) ->
     times (nth None xs i) (nth None ys i) = times (nth None us i) (nth None vs i)).
  move=> lt p; have [[_ mx] [_ my] /andP[sx1 su1] /andP[sy1 sv1]] := pair i lt.
  case: (boolP (is_zero (kind_of p.1))) => [zero _ _ | nz [// | ->]].
    have [/eqP -> /eqP ->] := zero_meaning zero mx; case: (nth None ys i) sy1 => // b _; case: (nth None vs i) sv1 => // c _.
    by rewrite /times !mul0r.
  case: (boolP (is_zero (kind_of p.2))) => [zero _ | _ [// | -> //]].
  have [_ /eqP ->] := zero_meaning zero my; case: (nth None xs i) sx1 => // b _; case: (nth None us i) su1 => // c _.
  by rewrite /times !mulr0.
have left i : (i < size ps)%N -> nth s0 (read_by ps) i = killed (nth (s0, s0) ps i).1 (nth (s0, s0) ps i).2.
  by move=> lt; rewrite /read_by nth_cat size_map lt (nth_map (s0, s0)).
have right i : (i < size ps)%N -> nth s0 (read_by ps) (size ps + i) = killed (nth (s0, s0) ps i).2 (nth (s0, s0) ps i).1.
  by move=> lt; rewrite /read_by nth_cat size_map ltnNge leq_addr /= addKn (nth_map (s0, s0)).
have read_size : size (read_by ps) = (size ps + size ps)%N by rewrite /read_by size_cat !size_map.
have equal : (forall i, (i < size (read_by ps))%N -> forall x y, meaning (kind_of (nth s0 (read_by ps) i)) x y ->
      (clean D (lo (nth s0 (read_by ps) i)) (hi (nth s0 (read_by ps) i)) -> x = y) -> x = y) -> dot xs ys = dot us vs.
  move=> reads; apply: total_eq; rewrite !sizes // => i lt; rewrite !entry //.
  have [[ex mx] [ey my] _ _] := pair i lt; apply: product => //.
    have := reads i; rewrite read_size left // ltn_addr // => /(_ isT); rewrite /killed.
    by case: (is_zero _); [left | move=> same; right; apply: same].
  have := reads (size ps + i)%N; rewrite read_size right // ltn_add2l => /(_ lt); rewrite /killed.
  by case: (is_zero _); [left | move=> same; right; apply: same].
apply: assemble_holds => [far | ].
  by apply: equal => i lt x y _ same; apply: same; apply: clean_join.
case Z : (_ || _).
  have zeros (zs ws : seq value) : size zs = size ps -> size ws = size ps ->
      (forall i, (i < size ps)%N -> times (nth None zs i) (nth None ws i) = Some 0) -> dot zs ws = Some 0.
    move=> sz sw zero; apply: total_zero; apply/(all_nthP None) => i; rewrite sizes // => lt.
    by rewrite entry // zero.
  case/orP: Z => /(all_nthP (s0, s0)) allz; split; apply: zeros => // i lt;
    have [[_ mx] [_ my] /andP[sx1 su1] /andP[sy1 sv1]] := pair i lt; have [/eqP e1 /eqP e2] := zero_meaning (allz i lt) ltac:(eassumption);
    rewrite ?e1 ?e2 /times.
  - by case: (nth None ys i) sy1 => // b _; rewrite mul0r.
  - by case: (nth None vs i) sv1 => // b _; rewrite mul0r.
  - by case: (nth None xs i) sx1 => // b _; rewrite mulr0.
  - by case: (nth None us i) su1 => // b _; rewrite mulr0.
case con : (all_constant (read_by ps)).
  by apply: equal => i lt x y mean _; apply: constant_same mean; apply: (all_nthP s0 con).
case P : (all _ ps) => //=; have ne : (0 < size ps)%N by move: Z; case: (ps).
have pos (zs ws : seq value) : size zs = size ps -> size ws = size ps ->
    (forall i, (i < size ps)%N -> above (times (nth None zs i) (nth None ws i))) -> above (dot zs ws).
  move=> sz sw all_pos; apply: total_above.
    by apply/(all_nthP None) => i; rewrite sizes // => lt; rewrite entry // all_pos.
  by apply/(has_nthP None); exists 0%N; rewrite ?sizes // entry // all_pos.
split; apply: pos => // i lt; have [[_ mx] [_ my] _ _] := pair i lt; move/(all_nthP (s0, s0))/(_ i lt)/andP: P => [p1 p2];
  have [a1 a2] := positive_meaning p1 mx; have [b1 b2] := positive_meaning p2 my.
  by move: a1 b1; case: (nth None xs i) => [a|] //; case: (nth None ys i) => [b|] //= a0 b0; apply: mulr_gt0.
by move: a2 b2; case: (nth None us i) => [a|] //; case: (nth None vs i) => [b|] //= a0 b0; apply: mulr_gt0.
Qed.

End Values.

(** ** Graphs *)

(** Operands by place, what the operation computes of them, and its rule. *)
Record node (V : Type) := Node { operands : seq nat; compute : seq V -> V; rule : seq shadow -> shadow }.

Definition run V (v0 : V) (inputs : seq V) (program : seq (node V)) : seq V :=
  foldl (fun env nd => rcons env (compute nd [seq nth v0 env i | i <- operands nd])) inputs program.

Definition abstract V (inputs : seq shadow) (program : seq (node V)) : seq shadow :=
  foldl (fun env nd => rcons env (rule nd [seq nth s0 env i | i <- operands nd])) inputs program.

Section Graph.

Variable R : realFieldType.
Notation V := (value R).

(** Every operand is an input or the result of an earlier node. *)
Fixpoint in_order (k : nat) (program : seq (node V)) : bool :=
  if program is nd :: rest then all (fun i => (i < k)%N) (operands nd) && in_order k.+1 rest else true.

(** The rule keeps the relation, for the values that its operands have in these two runs. *)
Definition keeps D (nd : node V) (ss : seq shadow) (xs ys : seq V) :=
  rels D ss xs ys -> holds D (rule nd ss) (compute nd xs) (compute nd ys).

Lemma rels_rcons D ss (xs ys : seq V) s (x y : V) : rels D ss xs ys -> holds D s x y -> rels D (rcons ss s) (rcons xs x) (rcons ys y).
Proof.
case=> sx sy each h; split; rewrite ?size_rcons ?sx ?sy // => i; rewrite !nth_rcons sx sy.
by rewrite ltnS leq_eqVlt => /orP[/eqP -> | lt]; [rewrite ltnn eqxx | rewrite lt; apply: each].
Qed.

Theorem graph_sound D (program : seq (node V)) : forall (ss : seq shadow) (xs ys : seq V),
  in_order (size ss) program -> rels D ss xs ys ->
  (forall nd, List.In nd program -> forall ss xs ys, keeps D nd ss xs ys) ->
  rels D (abstract ss program) (run None xs program) (run None ys program).
Proof.
elim: program => //= nd rest IH ss xs ys /andP[bounds order] rel sound.
apply: IH; rewrite ?size_rcons //; last by move=> nd' mem; apply: sound; right.
apply: rels_rcons => //; apply: sound; first by left.
case: rel => sx sy each; split; rewrite ?size_map // => i lt; rewrite !(nth_map 0%N) //; apply: each.
by apply: (all_nthP 0%N bounds).
Qed.

(** The inputs: element i of rank i may take any finite value; the program reads nothing else. *)
Theorem graph_causal (program : seq (node V)) (xs ys : seq V) (t : Z) (out : nat) :
  let inputs := [seq Shadow (Z.of_nat i) (Z.of_nat i) Varies | i <- iota 0 (size xs)] in
  size ys = size xs -> all isSome xs -> all isSome ys ->
  (forall i, (i < size xs)%N -> Z.le (Z.of_nat i) t -> nth None xs i = nth None ys i) ->
  in_order (size xs) program ->
  (forall nd, List.In nd program -> forall ss us vs, keeps (fun d => Z.lt t d) nd ss us vs) ->
  (out < size (abstract inputs program))%N -> Z.le (hi (nth s0 (abstract inputs program) out)) t ->
  nth None (run None xs program) out = nth None (run None ys program) out.
Proof.
move=> inputs same fx fy agree order sound lt early.
have rel : rels (fun d => Z.lt t d) inputs xs ys.
  rewrite /inputs; split; rewrite ?size_map ?size_iota // => i lti; rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n.
  split=> /= [far | ]; last by split; apply: (all_nthP None _) => //; rewrite same.
  apply: agree => //; case: (Z.le_gt_cases (Z.of_nat i) t) => // gt.
  by case: (far (Z.of_nat i)) => //; split; apply: Z.le_refl.
have size_in : size inputs = size xs by rewrite /inputs size_map size_iota.
rewrite -size_in in order; have [_ _ each] := graph_sound order rel sound.
have [eq_out _] := each out lt; apply: eq_out => d later [_ dh].
have le : Z.le d t := Z.le_trans _ _ _ dh early.
by lia.
Qed.

End Graph.
