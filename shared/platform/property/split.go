package property

// Split is the form of properties that keeps them apart by kind. Inside a custom property it has CollectionProperties
// only if there are any.
type Split struct {
	SingleProperties     map[string]Text            `json:"singleProperties"`
	CollectionProperties map[string]SplitCollection `json:"collectionProperties,omitzero"`
	CustomProperties     map[string]Split           `json:"customProperties"`
}

// Text is a value and the ID of the list entry from which it was chosen.
type Text struct {
	Value   *string `json:"value"`
	ValueID *string `json:"valueId"`
}

// SplitCollection is a collection in split form.
type SplitCollection struct {
	CollectionID string               `json:"collectionId"`
	Items        map[string]SplitItem `json:"items"`
}

// SplitItem is one item of a SplitCollection.
type SplitItem struct {
	Properties map[string]Text `json:"properties"`
}

// SplitByKind returns properties in split form.
func SplitByKind(all map[string]Property) Split {
	out := Split{map[string]Text{}, map[string]SplitCollection{}, map[string]Split{}}
	for key, p := range all {
		switch p.Type {
		case Single:
			out.SingleProperties[key] = Text{p.Value, p.ValueID}
		case Collection:
			out.CollectionProperties[key] = SplitCollection{p.DataGroupID, splitItems(p.Collections)}
		case Custom:
			inner := SplitByKind(p.Properties)
			if len(inner.CollectionProperties) == 0 {
				inner.CollectionProperties = nil
			}
			out.CustomProperties[key] = inner
		}
	}
	return out
}

func splitItems(items map[string]Item) map[string]SplitItem {
	out := map[string]SplitItem{}
	for id, item := range items {
		texts := map[string]Text{}
		for key, value := range item.Properties {
			texts[key] = Text{value, item.PropertiesInfo[key].ValueID}
		}
		out[id] = SplitItem{texts}
	}
	return out
}
