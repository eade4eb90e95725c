(** T23, the proofs for rows: softmax with minus infinities, starved rows and lowered scores; the largest element and the
    log of a sum of exponentials; running sums and products.

    Glossary (see transfer.v and transfer_sound.v)
      ps                 a row of scores: each with its shadow, and a mark where the run says that its weight is exactly 0
      seen_of ps xs      the values of the scores without a mark
      top xs             what is subtracted from each score of a row, usually its largest; a premise says that scores with
                         a mark do not move it
      weight m x         what a score x counts in a row whose top is m: 0 for minus infinity and, by the condition, for
                         scores with a mark; above 0 for other numbers
      nan                what a row without a visible score gives unless it is `safe`: the same in both runs

    Headline theorems:
      T23  softmaxed_sound         each weight of a softmax
      T23  peaked_sound            the largest element, the log of a sum of exponentials
      T23  running_sum_sound       with it running_product_sound

    Axioms: none. *)
From Coq Require Import ZArith Lia.
From mathcomp Require Import all_ssreflect all_algebra.
From AttnProof Require Import transfer transfer_sound.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** What the rest of a row, without some of its elements, says of the ranks of those that are left. *)
Lemma join_filter_inside (T : Type) (f : T -> shadow) (a : pred T) (ps : seq T) i p0 : (i < size ps)%N -> a (nth p0 ps i) ->
  Z.le (join_lo [seq f p | p <- ps & a p]) (lo (f (nth p0 ps i))) /\
  Z.le (hi (f (nth p0 ps i))) (join_hi [seq f p | p <- ps & a p]).
Proof.
elim: ps i => //= p ps IH [|i] /= lt ai; first by rewrite ai /=; lia.
by have := IH i lt ai; case: (a p) => /=; lia.
Qed.

Lemma clean_filter D (T : Type) (f : T -> shadow) (a : pred T) (ps : seq T) i p0 : (i < size ps)%N -> a (nth p0 ps i) ->
  clean D (join_lo [seq f p | p <- ps & a p]) (join_hi [seq f p | p <- ps & a p]) ->
  clean D (lo (f (nth p0 ps i))) (hi (f (nth p0 ps i))).
Proof. by move=> lt ai far d Dd [ld dh]; apply: (far d Dd); have := join_filter_inside f lt ai; lia. Qed.

Lemma mask_same (T : Type) (x0 : T) (m : bitseq) (xs ys : seq T) : size xs = size m -> size ys = size m ->
  (forall i, (i < size m)%N -> nth false m i -> nth x0 xs i = nth x0 ys i) -> mask m xs = mask m ys.
Proof.
elim: m xs ys => [|b m IH] [|x xs] [|y ys] //= [sx] [sy] each.
have rest : mask m xs = mask m ys by apply: IH => // i lt; apply: (each i.+1).
by case: b each => // each; rewrite rest (each 0%N isT isT : x = y).
Qed.

Lemma count_one (T : Type) (a : pred T) (s : seq T) x0 i j : count a s = 1%N -> (i < size s)%N -> (j < size s)%N ->
  a (nth x0 s i) -> a (nth x0 s j) -> i = j.
Proof.
have none (u : seq T) k : count a u = 0%N -> (k < size u)%N -> a (nth x0 u k) -> False.
  by move/eqP; rewrite -leqn0 leqNgt -has_count => /negP no lt ak; apply: no; apply/(has_nthP x0); exists k.
elim: s i j => [|x s IH] [|i] [|j] //= one lti ltj ai aj.
- by rewrite ai add1n in one; case: one => one; case: (none s j one ltj aj).
- by rewrite aj add1n in one; case: one => one; case: (none s i one lti ai).
case ax: (a x) one => one; last by rewrite add0n in one; rewrite (IH i j).
by rewrite add1n in one; case: one => one; case: (none s i one lti ai).
Qed.

Section Rows.

Variable R : realFieldType.
Notation value := (value R).

(** *** The largest element *)

Theorem peaked_sound D (ss : seq shadow) (xs ys : seq value) (f : seq value -> value) : rels D ss xs ys ->
  let kept := [seq ~~ dropped ss s | s <- ss] in
  f xs = f (mask kept xs) -> f ys = f (mask kept ys) -> isSome (f xs) -> isSome (f ys) ->
  holds D (peaked ss) (f xs) (f ys).
Proof.
case=> sx sy each kept fx fy nx ny; apply: assemble_holds => // far; rewrite fx fy; congr f.
apply: (@mask_same _ None); rewrite /kept size_map ?sx ?sy // => i lt; rewrite (nth_map s0) // => stays.
by have [same _] := each i lt; apply: same; apply: (@clean_filter D _ id (fun s => ~~ dropped ss s) ss i s0 lt stays); rewrite map_id.
Qed.

(** *** Softmax *)

Section Softmax.

Variables (top : seq value -> R) (weight : R -> value -> R) (nan : value).
Hypothesis weight_none : forall m, weight m None = 0.

Definition weights_total (xs : seq value) : R := \sum_(i < size xs) weight (top xs) (nth None xs i).
Definition softmax (safe : bool) (xs : seq value) (i : nat) : value :=
  if weights_total xs == 0 then (if safe then Some 0 else nan)
  else Some (weight (top xs) (nth None xs i) / weights_total xs).

Definition seen_of (ps : seq (shadow * bool)) (xs : seq value) : seq value := mask [seq ~~ p.2 | p <- ps] xs.

(** What the run says of a row: marked scores count nothing and do not move the top, all others count. *)
Definition row_told (ps : seq (shadow * bool)) (xs : seq value) : Prop :=
  top xs = top (seen_of ps xs) /\
  forall i, (i < size ps)%N ->
    if (nth (s0, false) ps i).2 then weight (top xs) (nth None xs i) = 0
    else forall a, nth None xs i = Some a -> 0 < weight (top xs) (Some a).

Theorem softmaxed_sound D (safe : bool) ps (xs ys : seq value) i : (i < size ps)%N ->
  rels D [seq p.1 | p <- ps] xs ys -> all (fun p => known p.1) ps ->
  (has (fun p => p.2) ps -> has (fun p => ~~ unseen_score p) ps) ->
  row_told ps xs -> row_told ps ys -> holds D (softmaxed safe ps i) (softmax safe xs i) (softmax safe ys i).
Proof.
move=> lti; case; rewrite !size_map => sx sy each /(all_nthP (s0, false)) knows some [top_x told_x] [top_y told_y].
have {}each j : (j < size ps)%N -> holds D (nth (s0, false) ps j).1 (nth None xs j) (nth None ys j).
  by move=> lt; have := each j; rewrite (nth_map (s0, false)) // => /(_ lt).
(* equal scores without a mark give equal weights everywhere *)
have same : (forall j, (j < size ps)%N -> ~~ (nth (s0, false) ps j).2 -> nth None xs j = nth None ys j) ->
    softmax safe xs i = softmax safe ys i.
  move=> eqs; have tops : top xs = top ys.
    rewrite top_x top_y; congr top; apply: (@mask_same _ None); rewrite size_map ?sx ?sy // => j lt.
    by rewrite (nth_map (s0, false)) // => seen; apply: eqs.
  have eq_weight j : (j < size ps)%N -> weight (top xs) (nth None xs j) = weight (top ys) (nth None ys j).
    move=> lt; have := told_x j lt; have := told_y j lt; have := eqs j lt; case: (_.2) => [_ -> -> // | /(_ isT) -> _ _].
    by rewrite tops.
  have totals : weights_total xs = weights_total ys.
    by rewrite /weights_total sx sy; apply: eq_bigr => j _; apply: eq_weight.
  by rewrite /softmax totals eq_weight.
have ge0 (zs : seq value) j : row_told ps zs -> (j < size ps)%N -> 0 <= weight (top zs) (nth None zs j).
  case=> _ /(_ j) told lt; move: (told lt); case: (_.2) => [-> // | pos].
  by case: (nth None zs j) pos => [a /(_ a erefl)/ltW // | _]; rewrite weight_none.
have gt0 (zs ws : seq value) j : row_told ps zs -> (j < size ps)%N -> ~~ unseen_score (nth (s0, false) ps j) ->
    meaning (kind_of (nth (s0, false) ps j).1) (nth None zs j) (nth None ws j) -> 0 < weight (top zs) (nth None zs j).
  case=> _ /(_ j) told lt; move: (told lt) (knows j lt); rewrite /unseen_score /known; case: (_.2) => [_ _ | pos].
    by rewrite orbT.
  rewrite orbF; case: (nth None zs j) pos => [a /(_ a erefl) // | _].
  by case: (kind_of _) => //= _ _ [] //.
have swap k (x y : value) : meaning k x y -> meaning k y x.
  by case: k => [[] | [] | [] | -> | [-> ] | [-> ] | [-> ] | [-> ]] //=; split.
have total_gt (zs ws : seq value) : size zs = size ps -> row_told ps zs ->
    (forall j, (j < size ps)%N -> meaning (kind_of (nth (s0, false) ps j).1) (nth None zs j) (nth None ws j)) ->
    has (fun p => ~~ unseen_score p) ps -> 0 < weights_total zs.
  move=> sz told mean /(has_nthP (s0, false))[j lt seen]; have ltz : (j < size zs)%N by rewrite sz.
  rewrite /weights_total (bigD1 (Ordinal ltz)) //=; apply: ltr_paddr; last exact: (gt0 zs ws j told lt seen (mean j lt)).
  by apply: sumr_ge0 => k _; apply: ge0 => //; rewrite -sz.
have mean_x j lt := (each j lt).2; have mean_y j lt := swap _ _ _ (each j lt).2.
rewrite /softmaxed; apply: assemble_holds => [far | ].
  apply: same => j lt seen; have [eq_j _] := each j lt; apply: eq_j.
  exact: (@clean_filter D _ fst (fun p => ~~ p.2) ps j (s0, false) lt seen far).
case hidden: (all _ ps).
  have none (zs ws : seq value) : size zs = size ps ->
      (forall j, (j < size ps)%N -> meaning (kind_of (nth (s0, false) ps j).1) (nth None zs j) (nth None ws j)) ->
      weights_total zs = 0.
    move=> sz mean; rewrite /weights_total big1 // => j _; have lt : (j < size ps)%N by rewrite -sz.
    have := mean j lt; have := all_nthP (s0, false) hidden j lt; case: (kind_of _) => //= _ [-> _].
    exact: weight_none.
  rewrite /softmax (none xs ys) // (none ys xs) // eqxx; by case: (safe).
have seen : has (fun p => ~~ unseen_score p) ps.
  case: (boolP (has (fun p => p.2) ps)) => [/some // | /negP unmarked].
  move/negbT: hidden; rewrite -has_predC => /(has_nthP (s0, false))[j lt /= vis]; apply/(has_nthP (s0, false)); exists j => //.
  rewrite /unseen_score negb_or vis /=; apply/negP => marked; apply: unmarked; apply/(has_nthP (s0, false)); by exists j.
have pos_x := total_gt xs ys sx (conj top_x told_x) mean_x seen.
have pos_y := total_gt ys xs sy (conj top_y told_y) mean_y seen.
rewrite /softmax (gt_eqF pos_x) (gt_eqF pos_y).
case me: (unseen_score _).
  have zero (zs ws : seq value) : row_told ps zs ->
      meaning (kind_of (nth (s0, false) ps i).1) (nth None zs i) (nth None ws i) -> weight (top zs) (nth None zs i) = 0.
    case=> _ /(_ i lti); move: me; rewrite /unseen_score; case: (_.2) => // me _; rewrite orbF in me.
    by case: (kind_of _) me => //= _ [-> _]; apply: weight_none.
  by rewrite /= (zero xs ys) ?(zero ys xs) ?mul0r //; first [exact: mean_x | exact: mean_y].
have pos (zs ws : seq value) : row_told ps zs -> 0 < weights_total zs ->
    meaning (kind_of (nth (s0, false) ps i).1) (nth None zs i) (nth None ws i) ->
    0 < weight (top zs) (nth None zs i) / weights_total zs.
  by move=> told tot mean; apply: divr_gt0 => //; apply: (gt0 zs ws i told lti _ mean); rewrite me.
case con: (all _ ps).
  have := same; rewrite /softmax (gt_eqF pos_x) (gt_eqF pos_y) => ->//= j lt _.
  by apply: constant_same (all_nthP (s0, false) con j lt) (mean_x j lt).
case one: (_ == 1)%N; last first.
  by split; [exact: (pos xs ys (conj top_x told_x) pos_x (mean_x i lti)) | exact: (pos ys xs (conj top_y told_y) pos_y (mean_y i lti))].
have whole (zs ws : seq value) : size zs = size ps -> row_told ps zs -> 0 < weights_total zs ->
    (forall j, (j < size ps)%N -> meaning (kind_of (nth (s0, false) ps j).1) (nth None zs j) (nth None ws j)) ->
    weight (top zs) (nth None zs i) / weights_total zs = 1.
  move=> sz told tot mean; have ltz : (i < size zs)%N by rewrite sz.
  suff -> : weights_total zs = weight (top zs) (nth None zs i).
    by rewrite divff //; apply/lt0r_neq0/(gt0 zs ws) => //; rewrite ?me //; apply: mean.
  rewrite /weights_total (bigD1 (Ordinal ltz)) //= big1 ?addr0 // => j neq; have ltj : (j < size ps)%N by rewrite -sz.
  have un : unseen_score (nth (s0, false) ps j).
    apply: contraR neq => vis; apply/eqP/val_inj => /=.
    by apply: (@count_one _ (fun p => ~~ unseen_score p) ps (s0, false)); rewrite ?me //; apply/eqP.
  have [_ /(_ j ltj)] := told; have := mean j ltj; move: un; rewrite /unseen_score; case: (_.2) => //; rewrite orbF.
  by case: (kind_of _) => //= _ [-> _] _; apply: weight_none.
by split=> //; rewrite (whole xs ys) // (whole ys xs).
Qed.

End Softmax.

(** *** Running sums and products *)

Notation total := (@total R).

Definition product (xs : seq value) : value := foldr (@times R) (Some 1) xs.

Lemma rels_take D ss (xs ys : seq value) k : rels D ss xs ys -> rels D (take k ss) (take k xs) (take k ys).
Proof.
case=> sx sy each; split; rewrite ?size_take ?sx ?sy // => j lt.
have [ltk lts] : (j < k)%N /\ (j < size ss)%N.
  by move: lt; case: (ltnP k (size ss)) => h lt; split=> //; [exact: ltn_trans lt h | exact: leq_trans lt h].
by rewrite !nth_take //; apply: each.
Qed.

Theorem running_sum_sound D ss (xs ys : seq value) i : rels D ss xs ys ->
  isSome (total (take i.+1 xs)) -> isSome (total (take i.+1 ys)) ->
  holds D (running_sum ss i) (total (take i.+1 xs)) (total (take i.+1 ys)).
Proof.
move=> rel fx fy; have [same mean] := scanned_sound (f := total) rel fx fy.
rewrite /running_sum; case P : (_ && _) => //; split=> //=; move/andP: P => [pos free].
have ne : (0 < size ss)%N by case: (ss) free.
have all_above zs : size zs = size ss -> all (@above R) zs -> above (total (take i.+1 zs)).
  move=> sz az; apply: total_above; first by apply/allP => x /mem_take /(allP az) ->.
  by case: zs sz az ne => [<- // | x zs _ /=/andP[ax _] _]; rewrite ax.
case: (rel) => sx sy _; have [px py] := each_kind rel (@positive_meaning R) pos; by split; apply: all_above.
Qed.

Lemma product_zero (xs : seq value) : has (fun x => x == Some 0) xs -> isSome (product xs) -> product xs = Some 0.
Proof.
elim: xs => //= x xs IH /orP[/eqP -> | zero]; rewrite /times.
  by case: (product xs) => // b _; rewrite mul0r.
by case: x => // a; move: (IH zero); case: (product xs) => // b /(_ isT)[->] _; rewrite mulr0.
Qed.

Theorem running_product_sound D ss (xs ys : seq value) i : rels D ss xs ys ->
  isSome (product (take i.+1 xs)) -> isSome (product (take i.+1 ys)) ->
  holds D (running_product ss i) (product (take i.+1 xs)) (product (take i.+1 ys)).
Proof.
move=> rel fx fy; have [same mean] := scanned_sound (f := product) rel fx fy.
apply: assemble_holds => //; case Z : (has _ _) => //=.
by have [zx zy] := some_kind (rels_take i.+1 rel) (@zero_meaning R) Z; split; apply: product_zero.
Qed.

End Rows.
