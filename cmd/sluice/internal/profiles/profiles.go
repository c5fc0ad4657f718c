package profiles

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/service"
	"sluice/internal/command"
	"sluice/internal/linefile"
)

func profilesCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "profiles", Short: "list the profiles that 'sluice login' has stored",
		Long: `
A line for each profile: its name, the address of the API, the tenant and the client. A star marks the one that commands
use if neither flags nor a local cloud name another service. Secrets are not printed.

--json prints one object a line.`,
		Example: "sluice profiles",
		RunE: command.Run(func(_ context.Context, _ []string, stdout io.Writer) error {
			records, err := service.ListProfiles()
			if err != nil {
				return err
			}
			if asJSON {
				return output.PrintJSONLines(stdout, records)
			}
			return printProfiles(stdout, records)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the profiles as JSON, one a line")
	return c
}

// printProfiles prints a line for each profile.
func printProfiles(stdout io.Writer, records []service.ProfileRecord) error {
	if len(records) == 0 {
		_, err := fmt.Fprintln(stdout, "There are no profiles; 'sluice login' makes one.")
		return err
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, r := range records {
		mark := " "
		if r.IsUsed {
			mark = "*"
		}
		if r.Error != "" {
			fmt.Fprintf(table, "%s %s\t%s\n", mark, r.Name, linefile.Printable(r.Error))
			continue
		}
		fmt.Fprintf(table, "%s %s\t%s\ttenant %s\tclient %s\n", mark, r.Name, linefile.Printable(r.APIURL),
			linefile.Printable(r.Tenant),
			linefile.Printable(r.ClientID))
	}
	return table.Flush()
}
