package evaluate_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/access"
	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// hiddenKeys are the data keys that are hidden from the caller of a request, as docs/contract/policy.md defines them.
type hiddenKeys struct {
	// keys are hidden everywhere, and inItem in the item that the request gives as well.
	keys, inItem map[string]bool
}

func findHiddenKeys(c policy.Contents, r evaluate.Request) hiddenKeys {
	h := hiddenKeys{map[string]bool{}, map[string]bool{}}
	groups := map[string]policy.DataGroup{}
	visit := func(fields []policy.Field) {
		for _, f := range fields {
			var layers access.Layers
			if f.AccessLayers != nil {
				layers = access.Layers(*f.AccessLayers)
			}
			if !r.Layers.CanReach(layers) && (f.IsSensitiveData || r.EnableAccessLayersFiltering) {
				h.keys[f.DataKey] = true
			}
		}
	}
	visit(c.Fields)
	for _, g := range c.DataGroups {
		groups[g.ID] = g
		visit(g.Fields)
	}
	var within func(fields []policy.Field, isHidden bool)
	within = func(fields []policy.Field, isHidden bool) {
		for _, f := range fields {
			if isHidden {
				h.inItem[f.DataKey] = true
			}
			if f.FieldType == policy.TypeCollection || f.FieldType == policy.TypeCustom {
				within(groups[f.FieldTypeID].Fields, isHidden || h.keys[f.DataKey])
			}
		}
	}
	within(c.Fields, false)
	return h
}

// maskedWorld gives a request its values. One dice decides the visible values and another one the hidden ones, so that
// two worlds with the same visible dice differ in hidden values only.
type maskedWorld struct {
	hidden          hiddenKeys
	visible, secret *dice
	// isItem means that the values belong to the data source currentDataGroupItem.
	isItem bool
	// depth is how many hidden things the values that are made at the moment are in.
	depth int
}

func newMaskedWorld(hidden hiddenKeys, seed, secret uint64) *maskedWorld {
	return &maskedWorld{
		hidden: hidden, visible: &dice{rand.New(rand.NewPCG(seed, 2))},
		secret: &dice{rand.New(rand.NewPCG(secret, seed))},
	}
}

// dice returns the dice that decides at the moment.
func (w *maskedWorld) dice() *dice {
	if w.depth > 0 {
		return w.secret
	}
	return w.visible
}

func (w *maskedWorld) isHidden(key string) bool {
	return w.hidden.keys[key] || w.isItem && w.hidden.inItem[key]
}

// forEach calls add for some of the keys. The secret dice decides the presence and the value of hidden ones.
func (w *maskedWorld) forEach(keys []string, add func(key string)) {
	for _, key := range keys {
		isHidden := w.isHidden(key)
		if isHidden {
			w.depth++
		}
		if w.dice().roll(3) > 0 {
			add(key)
		}
		if isHidden {
			w.depth--
		}
	}
}

func (w *maskedWorld) text() property.Text {
	d := w.dice()
	value, id := one(d, shortTexts...), one(d, "id", "other")
	return property.Text{Value: one(d, &value, &value, &value, nil), ValueID: one(d, nil, nil, &id)}
}

func (w *maskedWorld) texts(keys []string) map[string]property.Text {
	out := map[string]property.Text{}
	w.forEach(keys, func(key string) { out[key] = w.text() })
	return out
}

func (w *maskedWorld) items(key string) map[string]property.SplitItem {
	out := map[string]property.SplitItem{}
	for range w.dice().roll(4) {
		out[fmt.Sprint("item", w.dice().roll(5))] = property.SplitItem{Properties: w.texts(groupKeys[key])}
	}
	return out
}

// properties returns the properties of an entity.
func (w *maskedWorld) properties() property.Split {
	out := property.Split{
		SingleProperties: w.texts(singleKeys), CollectionProperties: map[string]property.SplitCollection{},
		CustomProperties: map[string]property.Split{},
	}
	w.forEach([]string{"people", "assets"}, func(key string) {
		out.CollectionProperties[key] = property.SplitCollection{CollectionID: key, Items: w.items(key)}
	})
	w.forEach([]string{"address"}, func(key string) {
		inner := property.Split{
			SingleProperties: w.texts([]string{"street", "a"}), CustomProperties: map[string]property.Split{},
			CollectionProperties: map[string]property.SplitCollection{},
		}
		w.forEach([]string{"people"}, func(key string) {
			inner.CollectionProperties[key] = property.SplitCollection{CollectionID: key, Items: w.items(key)}
		})
		w.forEach([]string{"geo"}, func(key string) {
			inner.CustomProperties[key] = property.Split{SingleProperties: w.texts(groupKeys[key])}
		})
		out.CustomProperties[key] = inner
	})
	return out
}

// request returns the request with values.
func (w *maskedWorld) request(r evaluate.Request) evaluate.Request {
	r.Properties = w.properties()
	r.DataSources = map[string]jsontext.Value{}
	for _, name := range dataSources {
		if w.visible.roll(4) == 0 {
			continue
		}
		w.isItem = name == "currentDataGroupItem"
		text, err := json.Marshal(w.source(name))
		if err != nil {
			panic(err)
		}
		r.DataSources[name], w.isItem = text, false
	}
	return r
}

// source returns a data source in one of its forms.
func (w *maskedWorld) source(name string) any {
	switch name {
	case "changedFields":
		return w.changedFields()
	case "currentField":
		return w.keyed(one(w.visible, allKeys...))
	case "relatedParties", "relatedProducts", "relatedDocuments":
		list := []any{}
		for range w.visible.roll(3) {
			list = append(list, w.object())
		}
		return list
	}
	out := w.object()
	for member, value := range map[string]any{
		"entityType": "Company", "entityId": "1", "teamIds": []string{"yes", "a"}, "isSystemUser": true,
		"inProgressJourneyTypes": []string{"a", "KYC"}, "materialityOutcome": "Material",
	} {
		out[member] = value
	}
	if w.visible.roll(4) == 0 {
		out["entityType"] = w.object()
	}
	return out
}

// keyed returns an object about the field of a data key.
func (w *maskedWorld) keyed(key string) any {
	if w.isHidden(key) {
		w.depth++
		defer func() { w.depth-- }()
	}
	return map[string]any{"dataKey": key, "value": one(w.dice(), shortTexts...), "old": one(w.dice(), shortTexts...)}
}

// changedFields returns which fields have changed, in one of several forms. Whether a hidden one has is a secret.
func (w *maskedWorld) changedFields() any {
	form := w.visible.roll(4)
	list, object := []any{}, map[string]any{}
	w.forEach(allKeys, func(key string) {
		switch form {
		case 0:
			list = append(list, key)
		case 1:
			list = append(list, w.keyed(key))
		default:
			object[key] = one[any](w.dice(), true, "yes", w.text())
		}
	})
	switch form {
	case 0, 1:
		return list
	case 2:
		return map[string]any{"properties": object}
	}
	return object
}

// object returns properties in one of the forms that data sources have.
func (w *maskedWorld) object() map[string]any {
	form := w.visible.roll(5)
	if form == 0 {
		return w.asMap(w.properties())
	}
	if form == 1 {
		return map[string]any{"properties": w.asMap(w.properties())}
	}
	out := map[string]any{}
	infos := map[string]any{}
	w.forEach(singleKeys, func(key string) {
		t := w.text()
		switch form {
		case 2:
			out[key] = t
		case 3:
			out[key] = map[string]any{"type": "Single", "value": t.Value, "valueId": t.ValueID}
		default:
			out[key] = t.Value
			infos[key] = map[string]any{"valueId": t.ValueID}
		}
	})
	w.forEach([]string{"people", "assets"}, func(key string) { out[key] = w.collection(key, form) })
	w.forEach([]string{"address"}, func(key string) {
		inner := map[string]any{}
		w.forEach([]string{"street", "a"}, func(key string) { inner[key] = w.text() })
		w.forEach([]string{"geo"}, func(key string) {
			inner[key] = w.asMap(property.Split{SingleProperties: w.texts(groupKeys[key])})
		})
		out[key] = map[string]any{"type": "Custom", "properties": inner}
	})
	if form == 2 {
		return out
	}
	return map[string]any{"properties": out, "propertiesInfo": infos}
}

// collection returns a collection as a list of items, or in the form of a property.
func (w *maskedWorld) collection(key string, form int) any {
	if form == 2 {
		list := []any{}
		for range w.dice().roll(3) {
			list = append(list, w.texts(groupKeys[key]))
		}
		return list
	}
	items := map[string]any{}
	for id, item := range w.items(key) {
		values, infos := map[string]any{}, map[string]any{}
		for key, t := range item.Properties {
			values[key], infos[key] = t.Value, map[string]any{"valueId": t.ValueID}
		}
		items[id] = map[string]any{"properties": values, "propertiesInfo": infos}
	}
	return map[string]any{"type": "Collection", "collections": items}
}

// asMap returns the JSON form of properties.
func (w *maskedWorld) asMap(p property.Split) map[string]any {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	return out
}
