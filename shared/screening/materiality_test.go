package screening_test

import (
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/screening"
)

func TestAggregate(t *testing.T) {
	t.Parallel()
	entity := func(c screening.Category, m screening.Materiality) screening.Entity {
		return screening.Entity{Assessment: &screening.Assessment{
			Categories: map[screening.Category]screening.CategoryAssessment{c: {Status: m}}}}
	}
	got := screening.Aggregate([]screening.Entity{
		entity(screening.PEP, screening.Immaterial), entity(screening.PEP, screening.Material), {},
		entity(screening.PEP, screening.Immaterial), entity(screening.Sanctions, screening.NoMateriality),
		entity(screening.Sanctions, screening.Immaterial), entity(screening.Other, screening.NoMateriality),
	})
	want := map[screening.Category]screening.Materiality{
		screening.PEP: screening.Material, screening.Sanctions: screening.Immaterial,
		screening.AdverseMedia: screening.NoMateriality, screening.Enforcements: screening.NoMateriality,
		screening.Other: screening.NoMateriality,
	}
	difftest.Equal(t, "the result", want, got)
}
