(** T9: what compression costs, counted in multiply-adds of one head, feature projections apart.

    Glossary
      n, r, d, dv     positions, slots, width of a query or key, width of a value
      D               d + dv
      full_macs       scores and value mixing of full attention
      compressed_macs compressing keys and values, scores and value mixing over the slots
      r n             a number of slots chosen by the length n
      c               linear work per position and layer (feature projections, feed-forward)

    Headline theorems:
      T9  compressed_macsE       compressed = 2 n r (d + dv)
      T9  macs_ratio             compressed : full = 2 r : n, whatever the widths
      T9  break_even             compressed < full iff 2 r < n; equal iff 2 r = n
      T9  coefficients_ratio     coefficients shrink as r : n
      T9  linear_iff_bounded     compressed is linear in n iff r stays bounded
      T9  quadratic              for a n <= b r and r <= n, compressed is between 2 a D n^2 / b and 2 D n^2
      T9  not_linear_at_n        for r = n no multiple of n bounds it
      T9  square_root_slots      for n = r^2 it is 2 D r^3
      T9  logarithmic_slots      for r = floor(log2 n) it is 2 D n floor(log2 n)
      T9  slower_iff             end to end, compressed costs more iff n < 2 r, the same iff n = 2 r
      T9  speedup_unbounded      for fixed r the speed-up exceeds every bound
      T9  speedup_capped         for a n <= b r with 2 a <= b the speed-up is at most b / (2 a)
      T9  speedup_cap_needs_half for r > n / 2 that cap fails as soon as there is other work

    Axioms: none. *)
From mathcomp Require Import all_ssreflect.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Definition full_macs n d dv := n ^ 2 * d + n ^ 2 * dv.
Definition compressed_macs n r d dv := (r * n * d + r * n * dv) + n * r * d + n * r * dv.
Definition full_coefficients n := n ^ 2.
Definition compressed_coefficients n r := n * r.

Theorem compressed_macsE n r d dv : compressed_macs n r d dv = 2 * n * r * (d + dv).
Proof. by rewrite /compressed_macs; ring. Qed.

Lemma full_macsE n d dv : full_macs n d dv = n * n * (d + dv).
Proof. by rewrite /full_macs; ring. Qed.

Theorem macs_ratio n r d dv : compressed_macs n r d dv * n = 2 * r * full_macs n d dv.
Proof. by rewrite compressed_macsE full_macsE; ring. Qed.

Theorem break_even n r d dv : 0 < n -> 0 < d + dv ->
  (compressed_macs n r d dv < full_macs n d dv) = (2 * r < n) /\
  (compressed_macs n r d dv == full_macs n d dv) = (2 * r == n).
Proof.
move=> n_gt0 D_gt0; rewrite compressed_macsE full_macsE [2 * n]mulnC -(mulnA n 2).
by rewrite ltn_pmul2r // eqn_pmul2r // ltn_pmul2l // eqn_pmul2l.
Qed.

Theorem coefficients_ratio n r : compressed_coefficients n r * n = r * full_coefficients n.
Proof. by rewrite /compressed_coefficients /full_coefficients; ring. Qed.

Theorem linear_iff_bounded (r : nat -> nat) d dv : 0 < d + dv ->
  (exists C, forall n, compressed_macs n (r n) d dv <= C * n) <-> (exists c, forall n, 0 < n -> r n <= c).
Proof.
move=> D_gt0; split=> [[C linear] | [c bounded]].
  exists C => n n_gt0; have := linear n; rewrite compressed_macsE.
  rewrite (_ : 2 * n * r n * (d + dv) = 2 * (d + dv) * r n * n); last by ring.
  rewrite leq_pmul2r //; apply: leq_trans.
  by rewrite leq_pmull // muln_gt0 D_gt0.
exists (2 * c * (d + dv)) => -[|n]; rewrite compressed_macsE ?muln0 ?mul0n //.
rewrite (_ : 2 * n.+1 * r n.+1 * (d + dv) = 2 * r n.+1 * (d + dv) * n.+1); last by ring.
by rewrite !leq_mul // bounded.
Qed.

Theorem quadratic n r a b d dv : a * n <= b * r -> r <= n ->
  2 * a * (d + dv) * n ^ 2 <= b * compressed_macs n r d dv /\
  compressed_macs n r d dv <= 2 * (d + dv) * n ^ 2.
Proof.
move=> lower upper; rewrite compressed_macsE -mulnn; split.
  rewrite (_ : 2 * a * (d + dv) * (n * n) = 2 * n * (d + dv) * (a * n)); last by ring.
  rewrite (_ : b * _ = 2 * n * (d + dv) * (b * r)); last by ring.
  by rewrite leq_mul.
rewrite (_ : 2 * (d + dv) * (n * n) = 2 * n * n * (d + dv)); last by ring.
by rewrite !leq_mul.
Qed.

Theorem not_linear_at_n d dv C : 0 < d + dv -> exists n, C * n < compressed_macs n n d dv.
Proof.
move=> D_gt0; exists C.+1; rewrite compressed_macsE.
rewrite (_ : 2 * C.+1 * C.+1 * _ = 2 * (d + dv) * C.+1 * C.+1); last by ring.
by rewrite ltn_pmul2r // leq_pmull // muln_gt0 D_gt0.
Qed.

Theorem square_root_slots r d dv : compressed_macs (r ^ 2) r d dv = 2 * (d + dv) * r ^ 3.
Proof. by rewrite compressed_macsE (expnS r 2); ring. Qed.

Theorem logarithmic_slots n d dv :
  compressed_macs n (trunc_log 2 n) d dv = 2 * (d + dv) * (n * trunc_log 2 n).
Proof. by rewrite compressed_macsE; ring. Qed.

(** End to end: c n of other work on both sides. *)
Definition full_total c n d dv := c * n + full_macs n d dv.
Definition compressed_total c n r d dv := c * n + compressed_macs n r d dv.

Theorem slower_iff c n r d dv : 0 < n -> 0 < d + dv ->
  (full_total c n d dv < compressed_total c n r d dv) = (n < 2 * r) /\
  (full_total c n d dv == compressed_total c n r d dv) = (n == 2 * r).
Proof.
move=> n_gt0 D_gt0; rewrite ltn_add2l eqn_add2l.
have [lt eq] := break_even r n_gt0 D_gt0; split; last by rewrite eq_sym eq eq_sym.
by rewrite ltnNge leq_eqVlt lt eq -leq_eqVlt -ltnNge.
Qed.

Theorem speedup_unbounded c r d dv bound : 0 < d + dv ->
  exists n0, forall n, n0 <= n -> bound * compressed_total c n r d dv <= full_total c n d dv.
Proof.
move=> D_gt0; exists (bound * (c + 2 * r * (d + dv))) => n large.
rewrite /compressed_total /full_total compressed_macsE full_macsE.
rewrite (_ : bound * _ = bound * (c + 2 * r * (d + dv)) * n); last by ring.
apply: leq_trans (leq_addl _ _).
by rewrite [n * n * _]mulnAC leq_mul2r (leq_trans large) ?orbT // leq_pmulr.
Qed.

Theorem speedup_capped c n r a b d dv : a * n <= b * r -> 2 * a <= b ->
  2 * a * full_total c n d dv <= b * compressed_total c n r d dv.
Proof.
move=> lower half; rewrite /compressed_total /full_total compressed_macsE full_macsE !(mulnDr _ (c * n)).
apply: leq_add; first by rewrite leq_mul.
rewrite (_ : 2 * a * (n * n * (d + dv)) = 2 * n * (d + dv) * (a * n)); last by ring.
rewrite (_ : b * (2 * n * r * (d + dv)) = 2 * n * (d + dv) * (b * r)); last by ring.
by rewrite leq_mul.
Qed.

Theorem speedup_cap_needs_half c n a b d dv : 0 < c -> 0 < n -> 0 < b -> b < 2 * a ->
  b * compressed_total c (b * n) (a * n) d dv < 2 * a * full_total c (b * n) d dv.
Proof.
move=> c_gt0 n_gt0 b_gt0 half; rewrite /compressed_total /full_total compressed_macsE full_macsE !(mulnDr _ (c * _)).
rewrite (_ : b * (2 * (b * n) * (a * n) * (d + dv)) = 2 * a * (b * n * (b * n) * (d + dv))); last by ring.
by rewrite ltn_add2r ltn_pmul2r // !muln_gt0 c_gt0 b_gt0.
Qed.
