package wire

// OrZero returns the value of a member that may be null: its zero value if it is.
func OrZero[T any](member *T) T {
	if member == nil {
		return *new(T)
	}
	return *member
}
