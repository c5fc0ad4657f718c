package lambda

import (
	"fmt"
	"sync"
)

// The reasons for which Lambda throttles a request, as its API reference (Invoke, TooManyRequestsException) names them.
const (
	reasonAccount  = "ConcurrentInvocationLimitExceeded"
	reasonReserved = "ReservedFunctionConcurrentInvocationLimitExceeded"
)

// minUnreserved is what an account must leave to functions without a reservation: 100 executions ("Configuring reserved
// concurrency for a function"), or all of them in an account that has fewer, as a new one has.
const minUnreserved = 100

// ThrottledError is the error of a request that did not run because too many others do. It may be sent again.
type ThrottledError struct {
	// Reason is one of those that the Invoke API names.
	Reason string
}

// Error returns the message of AWS.
func (e *ThrottledError) Error() string { return "Rate Exceeded." }

// limiter counts what an account may still run. It is safe for concurrent use.
type limiter struct {
	mu sync.Mutex
	// unreserved is how many more requests of functions without a reservation may run.
	unreserved int
	// reserved holds how many more requests of a function with a reservation may run, by its name.
	reserved map[string]int
}

// newLimiter returns the limiter of an account, or nil, which is no limit, for 0. Like AWS, it returns an error if the
// functions reserve more than an account can give away.
func newLimiter(account int, functions []Function) (*limiter, error) {
	if account == 0 {
		return nil, nil
	}
	l := &limiter{unreserved: account, reserved: map[string]int{}}
	floor := min(minUnreserved, account)
	for _, f := range functions {
		if f.Reserved == 0 {
			continue
		}
		if l.unreserved -= f.Reserved; l.unreserved < floor {
			return nil, fmt.Errorf("function %s: its ReservedConcurrentExecutions of %d would leave %d of the "+
				"account's %d concurrent executions unreserved; AWS demands %d", f.Name, f.Reserved,
				max(l.unreserved, 0), account,
				floor)
		}
		l.reserved[f.Name] = f.Reserved
	}
	return l, nil
}

// acquire counts a request of a function that begins. It returns a ThrottledError if too many run.
func (l *limiter) acquire(function string) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	left, hasReservation := l.reserved[function]
	switch {
	case hasReservation && left == 0:
		return &ThrottledError{reasonReserved}
	case hasReservation:
		l.reserved[function]--
	case l.unreserved == 0:
		return &ThrottledError{reasonAccount}
	default:
		l.unreserved--
	}
	return nil
}

// release counts a request that has ended.
func (l *limiter) release(function string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, hasReservation := l.reserved[function]; hasReservation {
		l.reserved[function]++
	} else {
		l.unreserved++
	}
}
