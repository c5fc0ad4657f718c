// Package entities has the commands about entities and their documents, and reads files of entities.
package entities

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/service"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/openapi/wire"
	"sluice/shared/platform/entity"
)

// Commands returns the commands about entities and their documents.
func Commands() []*cobra.Command {
	return []*cobra.Command{entityCommand(), documentCommand()}
}

func entityCommand() *cobra.Command {
	return command.Group(&cobra.Command{
		Use:   "entity",
		Short: "list and show the entities that lines can name",
		Example: `
sluice entity list --name acme --status Compliant
sluice entity show 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11`,
	}, listEntitiesCommand(), showEntityCommand())
}

// maxEntitiesPage is how many entities one request returns at most.
const maxEntitiesPage = 500

func listEntitiesCommand() *cobra.Command {
	var q client.EntityQuery
	var limit int
	c := service.Command(&cobra.Command{
		Use: "list", Short: "list entities, in the order of their names",
		Long: `
Each line has the entity, its status, its type and its name; --json prints the service's items, one a line. Entities
that the client's access layers do not reach are left out.`,
		Example: `
sluice entity list --name acme
sluice entity list --status Compliant --limit 1000 --json`,
	}, func(ctx context.Context, c *client.Client, _ []string, asJSON bool, stdout io.Writer) error {
		return output.Listing[client.ListedEntity]{
			Page: func(ctx context.Context, limit int, token string) ([]client.ListedEntity, string, error) {
				q.Limit = limit
				return c.Entities(ctx, q, token)
			},
			None:    "No entity matches.",
			MaxPage: maxEntitiesPage, Print: printEntities,
			Record: func(e client.ListedEntity) any { return e.Reply },
		}.Run(ctx, limit, asJSON, stdout)
	})
	f := c.Flags()
	f.StringVar(&q.NamePrefix, "name", "", "only entities whose name begins with `PREFIX`, in any case")
	f.StringVar(&q.Status, "status", "", "only entities with this `STATUS`, such as Compliant")
	f.IntVar(&limit, "limit", 50, "`NUMBER` of entities that are listed at most")
	command.Values(c, "status", strings.Split(entity.StatusNames(), ", ")...)
	return c
}

// printEntities prints a line for each entity.
func printEntities(stdout io.Writer, entities []client.ListedEntity) error {
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, e := range entities {
		kind := cmp.Or(e.Type, "-")
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", linefile.Printable(e.ID), e.LifecycleStatus, kind,
			linefile.Printable(e.Name))
	}
	return table.Flush()
}

func showEntityCommand() *cobra.Command {
	return service.Command(&cobra.Command{
		Use: "show ENTITY", Short: "show an entity with its verified properties",
		Long: `
ENTITY is the ID with which lines name it. --json prints the data of the service's reply.`,
		Example: "sluice entity show 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11",
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		e, err := c.Entity(ctx, args[0])
		switch {
		case err != nil:
			return err
		case asJSON:
			return output.PrintReply(stdout, e.Reply)
		}
		return printEntity(stdout, e)
	})
}

// printEntity prints an entity for people.
func printEntity(stdout io.Writer, e client.Entity) error {
	f := output.NewFacts(stdout)
	f.Add("entity", e.ID)
	f.Add("status", e.LifecycleStatus)
	f.Add("type", e.Type)
	f.Add("role", e.Role)
	f.Add("alternate ID", wire.OrZero(e.AlternateID))
	if e.Risk != nil {
		f.Add("risk", e.Risk.RiskLevel+" ("+e.Risk.RiskCategory+")")
	}
	f.AddTime("created", e.Created)
	f.AddTime("deleted", e.Deleted)
	f.Add("access layers", strings.Join(slices.Concat(e.AccessLayers.Geographic, e.AccessLayers.BusinessRelated), ", "))
	f.Add("jurisdictions", strings.Join(e.InScopeJurisdictions, ", "))
	f.Add("offboarded from", strings.Join(e.OffboardedJurisdictions, ", "))
	f.Add("version", fmt.Sprint(e.Version))
	f.Add("masked", strings.Join(e.MaskedProperties, ", "))
	if err := f.Print(); err != nil || len(e.Properties) == 0 {
		return err
	}
	if _, err := fmt.Fprintln(stdout, "\nProperties:"); err != nil {
		return err
	}
	var asSent struct{ Properties map[string]json.RawMessage }
	if err := json.Unmarshal(e.Reply, &asSent); err != nil {
		return err
	}
	f = output.NewFacts(stdout)
	for _, name := range slices.Sorted(maps.Keys(asSent.Properties)) {
		f.Add("  "+name, propertyText(asSent.Properties[name]))
	}
	return f.Print()
}

// propertyText writes the value of a property: the text of a single one, and the JSON of any other.
func propertyText(property json.RawMessage) string {
	var single struct {
		Type  string          `json:"type"`
		Value json.RawMessage `json:"value"`
	}
	value := property
	if json.Unmarshal(property, &single) == nil && single.Type == "Single" && len(single.Value) > 0 {
		value = single.Value
	}
	var text string
	if json.Unmarshal(value, &text) == nil && text != "" {
		return text
	}
	var out bytes.Buffer
	if json.Compact(&out, value) != nil {
		return string(value)
	}
	return out.String()
}
