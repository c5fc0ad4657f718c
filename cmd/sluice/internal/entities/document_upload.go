package entities

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
)

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
