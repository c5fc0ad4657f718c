package screening_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
