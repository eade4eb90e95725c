; a slot that a query sees reads a position forbidden to the query
; satisfiable: a counterexample; unsat: proved
(set-info :status sat)
(set-logic QF_UFNIA)
(declare-const n Int)
(declare-const t Int)
(declare-const j Int)
(declare-const s Int)
(declare-const p Int)
(define-fun times ((x Int) (y Int)) Int (* x y))
(declare-fun quotient (Int Int) Int) ; rounds down; defined below where it is used
(assert (<= (+ (* (- 1) n) 1) 0))
(assert (<= (* (- 1) t) 0))
(assert (<= (* (- 1) j) 0))
(assert (<= (* (- 1) s) 0))
(assert (<= (+ (* (- 1) p) 1) 0))
(assert (and (<= (+ (* (- 1) n) (* (- 1) p) (times (quotient (+ n p (- 1)) p) p) 1) 0) (<= (+ n (* (- 1) (times (quotient (+ n p (- 1)) p) p))) 0))) ; a quotient by a positive divisor
(assert (and (<= (+ (* (- 1) j) (times (quotient j p) p)) 0) (<= (+ j (* (- 1) (times (quotient j p) p)) (* (- 1) p) 1) 0))) ; a quotient by a positive divisor
(assert (or (not (= (* (- 1) (quotient (+ n p (- 1)) p)) 0)) (= (* (- 1) (times (quotient (+ n p (- 1)) p) p)) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient (+ n p (- 1)) p)) 1) 0)) (<= (+ p (* (- 1) (times (quotient (+ n p (- 1)) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient (+ n p (- 1)) p) 1) 0)) (<= (+ (times (quotient (+ n p (- 1)) p) p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (* (- 1) (quotient j p)) 0)) (= (* (- 1) (times (quotient j p) p)) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient j p)) 1) 0)) (<= (+ p (* (- 1) (times (quotient j p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient j p) 1) 0)) (<= (+ (times (quotient j p) p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (* (- 1) (quotient (+ n p (- 1)) p)) 1) 0)) (= (+ p (* (- 1) (times (quotient (+ n p (- 1)) p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient (+ n p (- 1)) p)) 2) 0)) (<= (+ (* 2 p) (* (- 1) (times (quotient (+ n p (- 1)) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (quotient (+ n p (- 1)) p) 0)) (<= (times (quotient (+ n p (- 1)) p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (* (- 1) (quotient j p)) 1) 0)) (= (+ p (* (- 1) (times (quotient j p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient j p)) 2) 0)) (<= (+ (* 2 p) (* (- 1) (times (quotient j p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (quotient j p) 0)) (<= (times (quotient j p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (quotient (+ n p (- 1)) p) (* (- 1) (quotient j p))) 0)) (= (+ (times (quotient (+ n p (- 1)) p) p) (* (- 1) (times (quotient j p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (quotient (+ n p (- 1)) p) (* (- 1) (quotient j p)) 1) 0)) (<= (+ (times (quotient (+ n p (- 1)) p) p) p (* (- 1) (times (quotient j p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient j p) (* (- 1) (quotient (+ n p (- 1)) p)) 1) 0)) (<= (+ (times (quotient j p) p) p (* (- 1) (times (quotient (+ n p (- 1)) p) p))) 0))) ; y < x gives y p + p <= x p
(assert (and (<= (+ t (* (- 1) n) 1) 0) (<= (+ j (* (- 1) n) 1) 0))) ; positions and queries
(assert (<= (+ s (* (- 1) (quotient (+ n p (- 1)) p)) 1) 0)) ; slot
(assert (<= (* (- 1) s) 0)) ; query t sees slot s
(assert (= (+ (quotient j p) (* (- 1) s)) 0)) ; slot s reads position j
(assert (not (<= (+ j (* (- 1) t)) 0))) ; forbidden
(check-sat)
