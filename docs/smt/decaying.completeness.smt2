; an allowed position is not shown by the slot that covers names
; satisfiable: a counterexample; unsat: proved
(set-info :status unsat)
(set-logic QF_UFNIA)
(declare-const n Int)
(declare-const t Int)
(declare-const j Int)
(declare-const q Int)
(declare-const m Int)
(define-fun times ((x Int) (y Int)) Int (* x y))
(declare-fun quotient (Int Int) Int) ; rounds down; defined below where it is used
(assert (<= (+ (* (- 1) n) 1) 0))
(assert (<= (* (- 1) t) 0))
(assert (<= (* (- 1) j) 0))
(assert (<= (+ (* (- 1) q) 1) 0))
(assert (<= (+ (* (- 1) m) 1) 0))
(assert (and (<= (+ (* (- 1) t) (times (quotient (+ t 1) q) q) (- 1)) 0) (<= (+ t (* (- 1) (times (quotient (+ t 1) q) q)) (* (- 1) q) 2) 0))) ; a quotient by a positive divisor
(assert (and (<= (+ (* (- 1) n) (times (quotient n q) q)) 0) (<= (+ n (* (- 1) (times (quotient n q) q)) (* (- 1) q) 1) 0))) ; a quotient by a positive divisor
(assert (and (<= (+ (* (- 1) (times (quotient (+ t 1) q) m)) m (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) m)) 0) (<= (+ (times (quotient (+ t 1) q) m) (* (- 2) m) (* (- 1) (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) m)) 1) 0))) ; a quotient by a positive divisor
(assert (or (not (= (* (- 1) (quotient (+ t 1) q)) 0)) (= (* (- 1) (times (quotient (+ t 1) q) m)) 0))) ; x = y gives x m = y m
(assert (or (not (<= (+ (* (- 1) (quotient (+ t 1) q)) 1) 0)) (<= (+ m (* (- 1) (times (quotient (+ t 1) q) m))) 0))) ; x < y gives x m + m <= y m
(assert (or (not (<= (+ (quotient (+ t 1) q) 1) 0)) (<= (+ (times (quotient (+ t 1) q) m) m) 0))) ; y < x gives y m + m <= x m
(assert (or (not (= (* (- 1) (quotient n q)) 0)) (= (* (- 1) (times (quotient n q) m)) 0))) ; x = y gives x m = y m
(assert (or (not (<= (+ (* (- 1) (quotient n q)) 1) 0)) (<= (+ m (* (- 1) (times (quotient n q) m))) 0))) ; x < y gives x m + m <= y m
(assert (or (not (<= (+ (quotient n q) 1) 0)) (<= (+ (times (quotient n q) m) m) 0))) ; y < x gives y m + m <= x m
(assert (or (not (= (* (- 1) (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m)) 0)) (= (* (- 1) (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) m)) 0))) ; x = y gives x m = y m
(assert (or (not (<= (+ (* (- 1) (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m)) 1) 0)) (<= (+ m (* (- 1) (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) m))) 0))) ; x < y gives x m + m <= y m
(assert (or (not (<= (+ (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) 1) 0)) (<= (+ (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) m) m) 0))) ; y < x gives y m + m <= x m
(assert (or (not (= (+ (* (- 1) (quotient (+ t 1) q)) 1) 0)) (= (+ m (* (- 1) (times (quotient (+ t 1) q) m))) 0))) ; x = y gives x m = y m
(assert (or (not (<= (+ (* (- 1) (quotient (+ t 1) q)) 2) 0)) (<= (+ (* 2 m) (* (- 1) (times (quotient (+ t 1) q) m))) 0))) ; x < y gives x m + m <= y m
(assert (or (not (<= (quotient (+ t 1) q) 0)) (<= (times (quotient (+ t 1) q) m) 0))) ; y < x gives y m + m <= x m
(assert (or (not (= (+ (* (- 1) (quotient n q)) 1) 0)) (= (+ m (* (- 1) (times (quotient n q) m))) 0))) ; x = y gives x m = y m
(assert (or (not (<= (+ (* (- 1) (quotient n q)) 2) 0)) (<= (+ (* 2 m) (* (- 1) (times (quotient n q) m))) 0))) ; x < y gives x m + m <= y m
(assert (or (not (<= (quotient n q) 0)) (<= (times (quotient n q) m) 0))) ; y < x gives y m + m <= x m
(assert (or (not (= (+ (* (- 1) (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m)) 1) 0)) (= (+ m (* (- 1) (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) m))) 0))) ; x = y gives x m = y m
(assert (or (not (<= (+ (* (- 1) (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m)) 2) 0)) (<= (+ (* 2 m) (* (- 1) (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) m))) 0))) ; x < y gives x m + m <= y m
(assert (or (not (<= (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) 0)) (<= (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) m) 0))) ; y < x gives y m + m <= x m
(assert (or (not (= (+ (quotient (+ t 1) q) (* (- 1) (quotient n q))) 0)) (= (+ (times (quotient (+ t 1) q) m) (* (- 1) (times (quotient n q) m))) 0))) ; x = y gives x m = y m
(assert (or (not (<= (+ (quotient (+ t 1) q) (* (- 1) (quotient n q)) 1) 0)) (<= (+ (times (quotient (+ t 1) q) m) m (* (- 1) (times (quotient n q) m))) 0))) ; x < y gives x m + m <= y m
(assert (or (not (<= (+ (quotient n q) (* (- 1) (quotient (+ t 1) q)) 1) 0)) (<= (+ (times (quotient n q) m) m (* (- 1) (times (quotient (+ t 1) q) m))) 0))) ; y < x gives y m + m <= x m
(assert (or (not (= (+ (quotient (+ t 1) q) (* (- 1) (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m))) 0)) (= (+ (times (quotient (+ t 1) q) m) (* (- 1) (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) m))) 0))) ; x = y gives x m = y m
(assert (or (not (<= (+ (quotient (+ t 1) q) (* (- 1) (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m)) 1) 0)) (<= (+ (times (quotient (+ t 1) q) m) m (* (- 1) (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) m))) 0))) ; x < y gives x m + m <= y m
(assert (or (not (<= (+ (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) (* (- 1) (quotient (+ t 1) q)) 1) 0)) (<= (+ (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) m) m (* (- 1) (times (quotient (+ t 1) q) m))) 0))) ; y < x gives y m + m <= x m
(assert (or (not (= (+ (quotient n q) (* (- 1) (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m))) 0)) (= (+ (times (quotient n q) m) (* (- 1) (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) m))) 0))) ; x = y gives x m = y m
(assert (or (not (<= (+ (quotient n q) (* (- 1) (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m)) 1) 0)) (<= (+ (times (quotient n q) m) m (* (- 1) (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) m))) 0))) ; x < y gives x m + m <= y m
(assert (or (not (<= (+ (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) (* (- 1) (quotient n q)) 1) 0)) (<= (+ (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) m) m (* (- 1) (times (quotient n q) m))) 0))) ; y < x gives y m + m <= x m
(assert (or (not (= (* (- 1) (quotient (+ t 1) q)) 0)) (= (* (- 1) (times (quotient (+ t 1) q) q)) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient (+ t 1) q)) 1) 0)) (<= (+ q (* (- 1) (times (quotient (+ t 1) q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ (quotient (+ t 1) q) 1) 0)) (<= (+ (times (quotient (+ t 1) q) q) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (* (- 1) (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m)) 0)) (= (* (- 1) (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) q)) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m)) 1) 0)) (<= (+ q (* (- 1) (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) 1) 0)) (<= (+ (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) q) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (* (- 1) (quotient n q)) 0)) (= (* (- 1) (times (quotient n q) q)) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient n q)) 1) 0)) (<= (+ q (* (- 1) (times (quotient n q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ (quotient n q) 1) 0)) (<= (+ (times (quotient n q) q) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ (* (- 1) (quotient (+ t 1) q)) 1) 0)) (= (+ q (* (- 1) (times (quotient (+ t 1) q) q))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient (+ t 1) q)) 2) 0)) (<= (+ (* 2 q) (* (- 1) (times (quotient (+ t 1) q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (quotient (+ t 1) q) 0)) (<= (times (quotient (+ t 1) q) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ (* (- 1) (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m)) 1) 0)) (= (+ q (* (- 1) (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) q))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m)) 2) 0)) (<= (+ (* 2 q) (* (- 1) (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) 0)) (<= (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ (* (- 1) (quotient n q)) 1) 0)) (= (+ q (* (- 1) (times (quotient n q) q))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient n q)) 2) 0)) (<= (+ (* 2 q) (* (- 1) (times (quotient n q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (quotient n q) 0)) (<= (times (quotient n q) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ (quotient (+ t 1) q) (* (- 1) (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m))) 0)) (= (+ (times (quotient (+ t 1) q) q) (* (- 1) (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) q))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (quotient (+ t 1) q) (* (- 1) (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m)) 1) 0)) (<= (+ (times (quotient (+ t 1) q) q) q (* (- 1) (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) (* (- 1) (quotient (+ t 1) q)) 1) 0)) (<= (+ (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) q) q (* (- 1) (times (quotient (+ t 1) q) q))) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ (quotient (+ t 1) q) (* (- 1) (quotient n q))) 0)) (= (+ (times (quotient (+ t 1) q) q) (* (- 1) (times (quotient n q) q))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (quotient (+ t 1) q) (* (- 1) (quotient n q)) 1) 0)) (<= (+ (times (quotient (+ t 1) q) q) q (* (- 1) (times (quotient n q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ (quotient n q) (* (- 1) (quotient (+ t 1) q)) 1) 0)) (<= (+ (times (quotient n q) q) q (* (- 1) (times (quotient (+ t 1) q) q))) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) (* (- 1) (quotient n q))) 0)) (= (+ (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) q) (* (- 1) (times (quotient n q) q))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) (* (- 1) (quotient n q)) 1) 0)) (<= (+ (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) q) q (* (- 1) (times (quotient n q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ (quotient n q) (* (- 1) (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m)) 1) 0)) (<= (+ (times (quotient n q) q) q (* (- 1) (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) q))) 0))) ; y < x gives y q + q <= x q
(assert (and (<= (+ t (* (- 1) n) 1) 0) (<= (+ j (* (- 1) n) 1) 0))) ; positions and queries
(assert (and (<= (+ j (* (- 1) (times (quotient (+ t 1) q) q)) 1) 0) (<= (+ j (* (- 1) t)) 0))) ; position j is due to query t
(assert (not (and (and (and (<= (+ (* (- 1) (times (quotient (+ t 1) q) m)) m) 0) (<= (+ (times (quotient (+ t 1) q) m) (* (- 1) m) (* (- 1) (times (quotient n q) m)) 1) 0)) (= (+ (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) (* (- 1) (quotient (+ t 1) q)) 1) 0)) (<= (+ j (* (- 1) (times (quotient (+ (times (quotient (+ t 1) q) m) (* (- 1) m)) m) q)) (* (- 1) q) 1) 0)))) ; the slot named does not show it
(check-sat)
