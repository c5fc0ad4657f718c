package entities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/openapi/wire"
)

func documentCommand() *cobra.Command {
	return command.Group(&cobra.Command{
		Use:   "document",
		Short: "upload, list, show and download the documents of entities",
		Example: `
sluice document upload bill.pdf --entity 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11
sluice document download c1f4a6b8-2d3e-4f50-8a61-9b7c8d9e0f13 -o bill.pdf`,
	}, uploadDocumentCommand(), listDocumentsCommand(), showDocumentCommand(), downloadDocumentCommand())
}

// maxDocumentsPage is how many documents one request returns at most.
const maxDocumentsPage = 500

func listDocumentsCommand() *cobra.Command {
	var status string
	var limit int
	c := service.Command(&cobra.Command{
		Use: "list ENTITY", Short: "list the documents of an entity, in the order of their creation",
		Long: `
Each line has the time of creation, the document, its status, its type and the name of its file; --json prints the
service's items, one a line.`,
		Example: "sluice document list 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11 --status Completed",
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		return output.Listing[client.Document]{
			Page: func(ctx context.Context, limit int, token string) ([]client.Document, string, error) {
				return c.Documents(ctx, client.DocumentQuery{EntityID: args[0], Status: status, Limit: limit}, token)
			},
			None:    "No document matches.",
			MaxPage: maxDocumentsPage, Print: printDocuments,
			Record: func(d client.Document) any { return d.Reply },
		}.Run(ctx, limit, asJSON, stdout)
	})
	f := c.Flags()
	f.StringVar(&status, "status", "",
		"only documents with this `STATUS`: Processing, Completed, Error, Infected or Archived")
	f.IntVar(&limit, "limit", 50, "`NUMBER` of documents that are listed at most")
	command.Values(c, "status", "Processing", "Completed", "Error", "Infected", "Archived")
	return c
}

// printDocuments prints a line for each document.
func printDocuments(stdout io.Writer, documents []client.Document) error {
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, d := range documents {
		kind := cmp.Or(d.DocumentType, "-")
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", d.UploadedOn.Format(time.RFC3339), d.ID, d.Status,
			linefile.Printable(kind),
			linefile.Printable(wire.OrZero(d.FileName)))
	}
	return table.Flush()
}

func showDocumentCommand() *cobra.Command {
	return service.Command(&cobra.Command{
		Use: "show DOCUMENT", Short: "show a document, and what its scan has found",
		Long: `
--json prints the data of the service's reply. The exit code is 1 if the file is of no use: the status is Error or
Infected.`,
		Example: "sluice document show c1f4a6b8-2d3e-4f50-8a61-9b7c8d9e0f13",
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		d, err := c.Document(ctx, args[0])
		if err != nil {
			return err
		}
		return printDocument(stdout, d, asJSON)
	})
}

// printDocument prints a document for people, or the service's reply. The error is command.Rejected if its file is of
// no use.
func printDocument(stdout io.Writer, d client.Document, asJSON bool) error {
	var err error
	if asJSON {
		err = output.PrintReply(stdout, d.Reply)
	} else {
		f := output.NewFacts(stdout)
		f.Add("document", d.ID)
		f.Add("status", d.Status)
		f.Add("because", documentReason(d))
		f.Add("file", wire.OrZero(d.FileName))
		f.Add("address", wire.OrZero(d.DocumentURL))
		f.Add("name", wire.OrZero(d.FriendlyName))
		f.Add("type", d.DocumentType)
		f.Add("entity", d.EntityID)
		f.Add("journey", d.JourneyID)
		f.Add("created", d.UploadedOn.Format(time.RFC3339))
		f.Add("created by", d.UploadedByUserName)
		f.Add("archived", wire.OrZero(d.ArchivalReason))
		if !d.HasRequiredAccessLayers {
			f.Add("hidden", "the access layers of this client do not reach the document")
		}
		err = f.Print()
	}
	if err == nil && (d.Status == client.DocumentError || d.Status == client.DocumentInfected) {
		return command.Rejected
	}
	return err
}

// documentReason says why a file is of no use; "" if it is not.
func documentReason(d client.Document) string {
	var parts []string
	for _, text := range []string{wire.OrZero(d.ErrorCode), wire.OrZero(d.ErrorMessage), wire.OrZero(d.Explanation)} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ": ")
}

func downloadDocumentCommand() *cobra.Command {
	var conn service.Connection
	var path string
	c := &cobra.Command{
		Use: "download DOCUMENT", Short: "download the file of a document",
		Long: `
There is a file once it is scanned and found clean. FILE is opened before anything is asked for; if the download breaks
off, it is removed.`,
		Example: "sluice document download c1f4a6b8-2d3e-4f50-8a61-9b7c8d9e0f13 -o bill.pdf",
		RunE: command.Run(func(ctx context.Context, args []string, stdout io.Writer) error {
			if path == "" {
				return command.Usagef("-o FILE is needed")
			}
			c, err := conn.NewClient(ctx)
			if err != nil {
				return err
			}
			out, err := files.OpenOutput(path, "the file", stdout)
			if err != nil {
				return err
			}
			defer out.Discard()
			size, err := downloadDocument(ctx, c, args[0], out)
			if err == nil && !out.IsStdout() {
				_, err = fmt.Fprintf(stdout, "%s: %s\n", linefile.Printable(path), terminal.FormatBytes(size))
			}
			return err
		}),
	}
	f := c.Flags()
	f.StringVarP(&path, "output", "o", "", "`FILE` to write, required; - is standard output")
	conn.AddFlags(c)
	return c
}

// downloadDocument stores the file of a document, and returns its size.
func downloadDocument(ctx context.Context, c *client.Client, id string, out *files.Output) (int64, error) {
	file, err := c.OpenDocument(ctx, id)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	size, err := io.Copy(out, file)
	if err == nil {
		err = out.Finish()
	}
	return size, err
}

// documentUpload is one run of the command that uploads a document.
type documentUpload struct {
	client *client.Client
	conn   service.Connection
	new    client.NewDocument
	// isDetached means that the scan is not awaited.
	isDetached, asJSON bool
}

func uploadDocumentCommand() *cobra.Command {
	var u documentUpload
	c := service.CommandWith(&u.conn, &cobra.Command{
		Use: "upload FILE", Short: "create a document of an entity, upload its file and await the scan",
		Long: `
Prints the document when its file is scanned. The exit code is 1 if the file is of no use: it is infected, empty or of a
kind that is not supported. If the file cannot be uploaded, the document is deleted again. --json prints the data of the
service's last reply.`,
		Example: `
sluice document upload bill.pdf --entity 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11
sluice document upload - --name bill.pdf --entity 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11 < scan`,
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		u.client, u.asJSON = c, asJSON
		switch {
		case u.new.EntityID == "":
			return command.Usagef("--entity ID is needed")
		case u.isDetached && asJSON:
			return command.Usagef("give either --detach or --json")
		case u.new.FileName == "" && args[0] == files.StdName:
			return command.Usagef("standard input has no name; give the document one with --name")
		case u.new.FileName == "":
			u.new.FileName = filepath.Base(args[0])
		}
		file, size, err := files.OpenSeekable(ctx, args[0])
		if err != nil {
			return err
		}
		defer file.Close()
		return u.run(ctx, file, size, stdout)
	})
	f := c.Flags()
	f.StringVar(&u.new.EntityID, "entity", "", "`ID` of the entity that the document is about, required")
	f.StringVar(&u.new.FileName, "name", "", "`NAME` of the file (default that of FILE)")
	f.StringVar(&u.new.DocumentType, "type", "", "`TYPE` of the document, such as 'Utility bill'")
	f.StringVar(&u.new.JourneyID, "journey", "", "`ID` of the journey to which the document belongs")
	f.BoolVar(&u.isDetached, "detach", false, "end when the service has the file, and print the document's ID")
	return c
}

// run creates the document and follows it to the end of its scan.
func (u documentUpload) run(ctx context.Context, file *os.File, size int64, stdout io.Writer) error {
	u.new.ContentLength = size
	created, err := u.client.CreateDocument(ctx, u.new)
	if err != nil {
		return err
	}
	progress := terminal.NewProgressBar(terminal.New(os.Stderr), size)
	err = u.client.UploadFile(ctx, created.Upload, file, size, func(n int64) { progress.Update(n, n) })
	progress.Clear()
	if err != nil {
		return u.giveUp(ctx, created.ID, err)
	}
	if u.isDetached {
		_, err = fmt.Fprintln(stdout, created.ID)
		return err
	}
	d, err := u.follow(ctx, created.ID)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w; the scan goes on: %s", command.ErrInterrupted,
			u.conn.CommandLine("document show", created.ID))
	case err != nil:
		return fmt.Errorf("document %s: %w", created.ID, err)
	}
	return printDocument(stdout, d, u.asJSON)
}

// follow reads a document until it is scanned.
func (u documentUpload) follow(ctx context.Context, id string) (client.Document, error) {
	for n := 1; ; n++ {
		d, err := u.client.Document(ctx, id)
		if err != nil || d.Status != client.DocumentProcessing {
			return d, err
		}
		if err := service.Sleep(ctx, client.Gently(n)); err != nil {
			return d, err
		}
	}
}

// giveUpPatience is how long a document without a file may take to be deleted.
const giveUpPatience = 5 * time.Second

// giveUp deletes a document whose file was not uploaded, also after an interrupt, and returns the error of the command.
func (u documentUpload) giveUp(ctx context.Context, id string, cause error) error {
	if ctx.Err() != nil && errors.Is(cause, context.Canceled) {
		cause = fmt.Errorf("%w; the file was not uploaded", command.ErrInterrupted)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpPatience)
	defer cancel()
	if err := u.client.DeleteDocument(ctx, id); err != nil {
		return fmt.Errorf("%w; the document %s remains without a file", cause, id)
	}
	return cause
}
