; a slot that a query sees reads a position forbidden to the query
; satisfiable: a counterexample; unsat: proved
(set-info :status unsat)
(set-logic QF_UFLIA)
(declare-const n Int)
(declare-const t Int)
(declare-const j Int)
(declare-const s Int)
(declare-const q Int)
(declare-const m Int)
(declare-fun times (Int Int) Int) ; stands for multiplication
(declare-fun quotient (Int Int) Int) ; rounds down; defined below where it is used
(assert (<= (+ (* (- 1) n) 1) 0))
(assert (<= (* (- 1) t) 0))
(assert (<= (* (- 1) j) 0))
(assert (<= (* (- 1) s) 0))
(assert (<= (+ (* (- 1) q) 1) 0))
(assert (<= (+ (* (- 1) m) 1) 0))
(assert (and (<= (+ (* (- 1) n) (times (quotient n q) q)) 0) (<= (+ n (* (- 1) (times (quotient n q) q)) (* (- 1) q) 1) 0))) ; a quotient by a positive divisor
(assert (and (<= (+ (* (- 1) s) (times (quotient s m) m)) 0) (<= (+ s (* (- 1) (times (quotient s m) m)) (* (- 1) m) 1) 0))) ; a quotient by a positive divisor
(assert (and (<= (+ (* (- 1) t) (times (quotient (+ t 1) q) q) (- 1)) 0) (<= (+ t (* (- 1) (times (quotient (+ t 1) q) q)) (* (- 1) q) 2) 0))) ; a quotient by a positive divisor
(assert (or (not (= (* (- 1) (quotient n q)) 0)) (= (* (- 1) (times (quotient n q) m)) 0))) ; x = y gives x m = y m
(assert (or (not (<= (+ (* (- 1) (quotient n q)) 1) 0)) (<= (+ m (* (- 1) (times (quotient n q) m))) 0))) ; x < y gives x m + m <= y m
(assert (or (not (<= (+ (quotient n q) 1) 0)) (<= (+ (times (quotient n q) m) m) 0))) ; y < x gives y m + m <= x m
(assert (or (not (= (* (- 1) (quotient s m)) 0)) (= (* (- 1) (times (quotient s m) m)) 0))) ; x = y gives x m = y m
(assert (or (not (<= (+ (* (- 1) (quotient s m)) 1) 0)) (<= (+ m (* (- 1) (times (quotient s m) m))) 0))) ; x < y gives x m + m <= y m
(assert (or (not (<= (+ (quotient s m) 1) 0)) (<= (+ (times (quotient s m) m) m) 0))) ; y < x gives y m + m <= x m
(assert (or (not (= (+ (* (- 1) (quotient n q)) 1) 0)) (= (+ m (* (- 1) (times (quotient n q) m))) 0))) ; x = y gives x m = y m
(assert (or (not (<= (+ (* (- 1) (quotient n q)) 2) 0)) (<= (+ (* 2 m) (* (- 1) (times (quotient n q) m))) 0))) ; x < y gives x m + m <= y m
(assert (or (not (<= (quotient n q) 0)) (<= (times (quotient n q) m) 0))) ; y < x gives y m + m <= x m
(assert (or (not (= (+ (* (- 1) (quotient s m)) 1) 0)) (= (+ m (* (- 1) (times (quotient s m) m))) 0))) ; x = y gives x m = y m
(assert (or (not (<= (+ (* (- 1) (quotient s m)) 2) 0)) (<= (+ (* 2 m) (* (- 1) (times (quotient s m) m))) 0))) ; x < y gives x m + m <= y m
(assert (or (not (<= (quotient s m) 0)) (<= (times (quotient s m) m) 0))) ; y < x gives y m + m <= x m
(assert (or (not (= (+ (quotient n q) (* (- 1) (quotient s m))) 0)) (= (+ (times (quotient n q) m) (* (- 1) (times (quotient s m) m))) 0))) ; x = y gives x m = y m
(assert (or (not (<= (+ (quotient n q) (* (- 1) (quotient s m)) 1) 0)) (<= (+ (times (quotient n q) m) m (* (- 1) (times (quotient s m) m))) 0))) ; x < y gives x m + m <= y m
(assert (or (not (<= (+ (quotient s m) (* (- 1) (quotient n q)) 1) 0)) (<= (+ (times (quotient s m) m) m (* (- 1) (times (quotient n q) m))) 0))) ; y < x gives y m + m <= x m
(assert (or (not (= (* (- 1) (quotient s m)) 0)) (= (* (- 1) (times (quotient s m) q)) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient s m)) 1) 0)) (<= (+ q (* (- 1) (times (quotient s m) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ (quotient s m) 1) 0)) (<= (+ (times (quotient s m) q) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (* (- 1) (quotient n q)) 0)) (= (* (- 1) (times (quotient n q) q)) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient n q)) 1) 0)) (<= (+ q (* (- 1) (times (quotient n q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ (quotient n q) 1) 0)) (<= (+ (times (quotient n q) q) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (* (- 1) (quotient (+ t 1) q)) 0)) (= (* (- 1) (times (quotient (+ t 1) q) q)) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient (+ t 1) q)) 1) 0)) (<= (+ q (* (- 1) (times (quotient (+ t 1) q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ (quotient (+ t 1) q) 1) 0)) (<= (+ (times (quotient (+ t 1) q) q) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ (* (- 1) (quotient s m)) 1) 0)) (= (+ q (* (- 1) (times (quotient s m) q))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient s m)) 2) 0)) (<= (+ (* 2 q) (* (- 1) (times (quotient s m) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (quotient s m) 0)) (<= (times (quotient s m) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ (* (- 1) (quotient n q)) 1) 0)) (= (+ q (* (- 1) (times (quotient n q) q))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient n q)) 2) 0)) (<= (+ (* 2 q) (* (- 1) (times (quotient n q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (quotient n q) 0)) (<= (times (quotient n q) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ (* (- 1) (quotient (+ t 1) q)) 1) 0)) (= (+ q (* (- 1) (times (quotient (+ t 1) q) q))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (* (- 1) (quotient (+ t 1) q)) 2) 0)) (<= (+ (* 2 q) (* (- 1) (times (quotient (+ t 1) q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (quotient (+ t 1) q) 0)) (<= (times (quotient (+ t 1) q) q) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ (quotient s m) (* (- 1) (quotient n q))) 0)) (= (+ (times (quotient s m) q) (* (- 1) (times (quotient n q) q))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (quotient s m) (* (- 1) (quotient n q)) 1) 0)) (<= (+ (times (quotient s m) q) q (* (- 1) (times (quotient n q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ (quotient n q) (* (- 1) (quotient s m)) 1) 0)) (<= (+ (times (quotient n q) q) q (* (- 1) (times (quotient s m) q))) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ (quotient s m) (* (- 1) (quotient (+ t 1) q))) 0)) (= (+ (times (quotient s m) q) (* (- 1) (times (quotient (+ t 1) q) q))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (quotient s m) (* (- 1) (quotient (+ t 1) q)) 1) 0)) (<= (+ (times (quotient s m) q) q (* (- 1) (times (quotient (+ t 1) q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ (quotient (+ t 1) q) (* (- 1) (quotient s m)) 1) 0)) (<= (+ (times (quotient (+ t 1) q) q) q (* (- 1) (times (quotient s m) q))) 0))) ; y < x gives y q + q <= x q
(assert (or (not (= (+ (quotient n q) (* (- 1) (quotient (+ t 1) q))) 0)) (= (+ (times (quotient n q) q) (* (- 1) (times (quotient (+ t 1) q) q))) 0))) ; x = y gives x q = y q
(assert (or (not (<= (+ (quotient n q) (* (- 1) (quotient (+ t 1) q)) 1) 0)) (<= (+ (times (quotient n q) q) q (* (- 1) (times (quotient (+ t 1) q) q))) 0))) ; x < y gives x q + q <= y q
(assert (or (not (<= (+ (quotient (+ t 1) q) (* (- 1) (quotient n q)) 1) 0)) (<= (+ (times (quotient (+ t 1) q) q) q (* (- 1) (times (quotient n q) q))) 0))) ; y < x gives y q + q <= x q
(assert (and (<= (+ t (* (- 1) n) 1) 0) (<= (+ j (* (- 1) n) 1) 0))) ; positions and queries
(assert (<= (+ s (* (- 1) (times (quotient n q) m)) 1) 0)) ; slot
(assert (= (+ (quotient s m) (* (- 1) (quotient (+ t 1) q)) 1) 0)) ; query t sees slot s
(assert (<= (+ j (* (- 1) (times (quotient s m) q)) (* (- 1) q) 1) 0)) ; slot s reads position j
(assert (not (<= (+ j (* (- 1) t)) 0))) ; forbidden
(check-sat)
