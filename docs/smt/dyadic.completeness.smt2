; an allowed position is not shown by the slot that covers names
; satisfiable: a counterexample; unsat: proved
(set-info :status unsat)
(set-logic QF_UFLIA)
(declare-const n Int)
(declare-const t Int)
(declare-const j Int)
(declare-const p Int)
(declare-fun times (Int Int) Int) ; stands for multiplication
(declare-fun quotient (Int Int) Int) ; rounds down; defined below where it is used
(assert (<= (+ (* (- 1) n) 1) 0))
(assert (<= (* (- 1) t) 0))
(assert (<= (* (- 1) j) 0))
(assert (<= (+ (* (- 1) p) 1) 0))
(assert (and (<= (+ (* (- 1) t) (times (quotient (+ t 1) p) p) (- 1)) 0) (<= (+ t (* (- 1) (times (quotient (+ t 1) p) p)) (* (- 1) p) 2) 0))) ; a quotient by a positive divisor
(assert (and (<= (+ (* (- 1) j) (times (quotient j p) p)) 0) (<= (+ j (* (- 1) (times (quotient j p) p)) (* (- 1) p) 1) 0))) ; a quotient by a positive divisor
(assert (and (<= (+ (* (- 1) n) (times (quotient n p) p)) 0) (<= (+ n (* (- 1) (times (quotient n p) p)) (* (- 1) p) 1) 0))) ; a quotient by a positive divisor
(assert (or (not (= (* (- 1) (div (quotient (+ t 1) p) 2)) 0)) (= (* (- 1) (times (div (quotient (+ t 1) p) 2) p)) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (div (quotient (+ t 1) p) 2)) 1) 0)) (<= (+ p (* (- 1) (times (div (quotient (+ t 1) p) 2) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (div (quotient (+ t 1) p) 2) 1) 0)) (<= (+ (times (div (quotient (+ t 1) p) 2) p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (* (- 2) (div (quotient (+ t 1) p) 2)) 0)) (= (* (- 2) (times (div (quotient (+ t 1) p) 2) p)) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 2) (div (quotient (+ t 1) p) 2)) 1) 0)) (<= (+ p (* (- 2) (times (div (quotient (+ t 1) p) 2) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (* 2 (div (quotient (+ t 1) p) 2)) 1) 0)) (<= (+ (* 2 (times (div (quotient (+ t 1) p) 2) p)) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (* (- 1) (quotient (+ t 1) p)) 0)) (= (* (- 1) (times (quotient (+ t 1) p) p)) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient (+ t 1) p)) 1) 0)) (<= (+ p (* (- 1) (times (quotient (+ t 1) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient (+ t 1) p) 1) 0)) (<= (+ (times (quotient (+ t 1) p) p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (* (- 1) (quotient j p)) 0)) (= (* (- 1) (times (quotient j p) p)) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient j p)) 1) 0)) (<= (+ p (* (- 1) (times (quotient j p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient j p) 1) 0)) (<= (+ (times (quotient j p) p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (* (- 1) (quotient n p)) 0)) (= (* (- 1) (times (quotient n p) p)) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient n p)) 1) 0)) (<= (+ p (* (- 1) (times (quotient n p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient n p) 1) 0)) (<= (+ (times (quotient n p) p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (* (- 1) (div (quotient (+ t 1) p) 2)) 1) 0)) (= (+ p (* (- 1) (times (div (quotient (+ t 1) p) 2) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (div (quotient (+ t 1) p) 2)) 2) 0)) (<= (+ (* 2 p) (* (- 1) (times (div (quotient (+ t 1) p) 2) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (div (quotient (+ t 1) p) 2) 0)) (<= (times (div (quotient (+ t 1) p) 2) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (* (- 2) (div (quotient (+ t 1) p) 2)) 1) 0)) (= (+ p (* (- 2) (times (div (quotient (+ t 1) p) 2) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 2) (div (quotient (+ t 1) p) 2)) 2) 0)) (<= (+ (* 2 p) (* (- 2) (times (div (quotient (+ t 1) p) 2) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (* 2 (div (quotient (+ t 1) p) 2)) 0)) (<= (* 2 (times (div (quotient (+ t 1) p) 2) p)) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (* (- 1) (quotient (+ t 1) p)) 1) 0)) (= (+ p (* (- 1) (times (quotient (+ t 1) p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient (+ t 1) p)) 2) 0)) (<= (+ (* 2 p) (* (- 1) (times (quotient (+ t 1) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (quotient (+ t 1) p) 0)) (<= (times (quotient (+ t 1) p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (* (- 1) (quotient j p)) 1) 0)) (= (+ p (* (- 1) (times (quotient j p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient j p)) 2) 0)) (<= (+ (* 2 p) (* (- 1) (times (quotient j p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (quotient j p) 0)) (<= (times (quotient j p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (* (- 1) (quotient n p)) 1) 0)) (= (+ p (* (- 1) (times (quotient n p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient n p)) 2) 0)) (<= (+ (* 2 p) (* (- 1) (times (quotient n p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (quotient n p) 0)) (<= (times (quotient n p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (* (- 1) (div (quotient (+ t 1) p) 2)) 0)) (= (* (- 1) (times (div (quotient (+ t 1) p) 2) p)) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (div (quotient (+ t 1) p) 2)) 1) 0)) (<= (+ (* (- 1) (times (div (quotient (+ t 1) p) 2) p)) p) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (div (quotient (+ t 1) p) 2) 1) 0)) (<= (+ (times (div (quotient (+ t 1) p) 2) p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (div (quotient (+ t 1) p) 2) (* (- 1) (quotient (+ t 1) p))) 0)) (= (+ (times (div (quotient (+ t 1) p) 2) p) (* (- 1) (times (quotient (+ t 1) p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (div (quotient (+ t 1) p) 2) (* (- 1) (quotient (+ t 1) p)) 1) 0)) (<= (+ (times (div (quotient (+ t 1) p) 2) p) p (* (- 1) (times (quotient (+ t 1) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient (+ t 1) p) (* (- 1) (div (quotient (+ t 1) p) 2)) 1) 0)) (<= (+ (times (quotient (+ t 1) p) p) p (* (- 1) (times (div (quotient (+ t 1) p) 2) p))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (div (quotient (+ t 1) p) 2) (* (- 1) (quotient j p))) 0)) (= (+ (times (div (quotient (+ t 1) p) 2) p) (* (- 1) (times (quotient j p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (div (quotient (+ t 1) p) 2) (* (- 1) (quotient j p)) 1) 0)) (<= (+ (times (div (quotient (+ t 1) p) 2) p) p (* (- 1) (times (quotient j p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient j p) (* (- 1) (div (quotient (+ t 1) p) 2)) 1) 0)) (<= (+ (times (quotient j p) p) p (* (- 1) (times (div (quotient (+ t 1) p) 2) p))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (div (quotient (+ t 1) p) 2) (* (- 1) (quotient n p))) 0)) (= (+ (times (div (quotient (+ t 1) p) 2) p) (* (- 1) (times (quotient n p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (div (quotient (+ t 1) p) 2) (* (- 1) (quotient n p)) 1) 0)) (<= (+ (times (div (quotient (+ t 1) p) 2) p) p (* (- 1) (times (quotient n p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient n p) (* (- 1) (div (quotient (+ t 1) p) 2)) 1) 0)) (<= (+ (times (quotient n p) p) p (* (- 1) (times (div (quotient (+ t 1) p) 2) p))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (* 2 (div (quotient (+ t 1) p) 2)) (* (- 1) (quotient (+ t 1) p))) 0)) (= (+ (* 2 (times (div (quotient (+ t 1) p) 2) p)) (* (- 1) (times (quotient (+ t 1) p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* 2 (div (quotient (+ t 1) p) 2)) (* (- 1) (quotient (+ t 1) p)) 1) 0)) (<= (+ (* 2 (times (div (quotient (+ t 1) p) 2) p)) p (* (- 1) (times (quotient (+ t 1) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient (+ t 1) p) (* (- 2) (div (quotient (+ t 1) p) 2)) 1) 0)) (<= (+ (times (quotient (+ t 1) p) p) p (* (- 2) (times (div (quotient (+ t 1) p) 2) p))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (* 2 (div (quotient (+ t 1) p) 2)) (* (- 1) (quotient j p))) 0)) (= (+ (* 2 (times (div (quotient (+ t 1) p) 2) p)) (* (- 1) (times (quotient j p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* 2 (div (quotient (+ t 1) p) 2)) (* (- 1) (quotient j p)) 1) 0)) (<= (+ (* 2 (times (div (quotient (+ t 1) p) 2) p)) p (* (- 1) (times (quotient j p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient j p) (* (- 2) (div (quotient (+ t 1) p) 2)) 1) 0)) (<= (+ (times (quotient j p) p) p (* (- 2) (times (div (quotient (+ t 1) p) 2) p))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (* 2 (div (quotient (+ t 1) p) 2)) (* (- 1) (quotient n p))) 0)) (= (+ (* 2 (times (div (quotient (+ t 1) p) 2) p)) (* (- 1) (times (quotient n p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* 2 (div (quotient (+ t 1) p) 2)) (* (- 1) (quotient n p)) 1) 0)) (<= (+ (* 2 (times (div (quotient (+ t 1) p) 2) p)) p (* (- 1) (times (quotient n p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient n p) (* (- 2) (div (quotient (+ t 1) p) 2)) 1) 0)) (<= (+ (times (quotient n p) p) p (* (- 2) (times (div (quotient (+ t 1) p) 2) p))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (quotient (+ t 1) p) (* (- 1) (quotient j p))) 0)) (= (+ (times (quotient (+ t 1) p) p) (* (- 1) (times (quotient j p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (quotient (+ t 1) p) (* (- 1) (quotient j p)) 1) 0)) (<= (+ (times (quotient (+ t 1) p) p) p (* (- 1) (times (quotient j p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient j p) (* (- 1) (quotient (+ t 1) p)) 1) 0)) (<= (+ (times (quotient j p) p) p (* (- 1) (times (quotient (+ t 1) p) p))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (quotient (+ t 1) p) (* (- 1) (quotient n p))) 0)) (= (+ (times (quotient (+ t 1) p) p) (* (- 1) (times (quotient n p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (quotient (+ t 1) p) (* (- 1) (quotient n p)) 1) 0)) (<= (+ (times (quotient (+ t 1) p) p) p (* (- 1) (times (quotient n p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient n p) (* (- 1) (quotient (+ t 1) p)) 1) 0)) (<= (+ (times (quotient n p) p) p (* (- 1) (times (quotient (+ t 1) p) p))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (quotient j p) (* (- 1) (quotient n p))) 0)) (= (+ (times (quotient j p) p) (* (- 1) (times (quotient n p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (quotient j p) (* (- 1) (quotient n p)) 1) 0)) (<= (+ (times (quotient j p) p) p (* (- 1) (times (quotient n p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient n p) (* (- 1) (quotient j p)) 1) 0)) (<= (+ (times (quotient n p) p) p (* (- 1) (times (quotient j p) p))) 0))) ; y < x gives y p + p <= x p
(assert (and (<= (+ t (* (- 1) n) 1) 0) (<= (+ j (* (- 1) n) 1) 0))) ; positions and queries
(assert (and (and (<= (+ (* 2 (times (div (quotient (+ t 1) p) 2) p)) (* (- 1) j)) 0) (<= (+ j (* (- 1) (times (quotient (+ t 1) p) p)) 1) 0)) (<= (+ j (* (- 1) t)) 0))) ; position j is due to query t
(assert (not (and (and (<= (* (- 1) (quotient j p)) 0) (<= (+ (quotient j p) (* (- 1) (quotient n p)) 1) 0)) (and (= (+ (quotient j p) (* (- 1) (quotient (+ t 1) p)) 1) 0) (= (+ (quotient (+ t 1) p) (* (- 2) (div (quotient (+ t 1) p) 2)) (- 1)) 0))))) ; the slot named does not show it
(check-sat)
