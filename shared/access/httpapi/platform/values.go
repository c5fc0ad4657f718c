package platform

// OrNull returns nil for "", so that a reply has null for a text that is not there.
func OrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// OrEmpty returns an empty list for nil, so that a reply has [] and not null.
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
