// Package consoleserver is the command that serves the console to a browser on this machine.
package consoleserver

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"sluice/client"
	"sluice/cmd/sluice/internal/admin"
	"sluice/cmd/sluice/internal/local"
	"sluice/cmd/sluice/internal/process"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/console"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/internal/localcloud"
)

// consoleAddress is where the console listens unless --address is given: always the same place, so that an open page
// finds the console again. If something else listens there, a free port is taken.
const consoleAddress = "127.0.0.1:8470"

// consoleOptions are the flags of 'sluice console' beside those of a connection.
type consoleOptions struct {
	address string
	noOpen  bool
	// spool is where the temporary folder of dropped files is made.
	spool string
	// operator shows what operators see, of the installation with the prefix. For a local cloud it is always shown.
	operator bool
	prefix   string
	// input is where a person asks for another address; nil if nobody can.
	input io.Reader
	// listenAddress and listenURL are where events are delivered to, as those of 'sluice listen'.
	listenAddress, listenURL string
}

func Command() *cobra.Command {
	var conn service.Connection
	var o consoleOptions
	c := &cobra.Command{
		Use:   "console",
		Short: "show the service in a browser on this machine: batches, uploads, screening and the rest",
		Long: `
It serves a web page on 127.0.0.1, prints its address and opens the browser. The page uses the connection of this
command and shows what its client may see; the credentials stay here. The printed address opens the console in one
browser, once; other programs of the machine cannot use it after that. Ctrl-C ends the console.

Files that are dropped on the page are copied to a temporary folder, so that they can be checked and uploaded. It is
removed at the end; the command then prints how unfinished uploads are continued.`,
		Example: `
sluice console
sluice console --profile production --no-open
sluice console --data .sluice --address 127.0.0.1:9000`,
		RunE: command.Run(func(ctx context.Context, _ []string, stdout io.Writer) error {
			config, err := o.configure(ctx, &conn)
			if err != nil {
				return err
			}
			if term.IsTerminal(int(os.Stdin.Fd())) {
				o.input = os.Stdin
			}
			return o.serve(ctx, config, terminal.New(stdout))
		}),
	}
	o.addFlags(c)
	conn.AddFlags(c)
	return c
}

func (o *consoleOptions) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.address, "address", "",
		"`HOST:PORT` to listen at, on this machine (default "+consoleAddress+", or a free port if it is taken)")
	f.BoolVar(&o.noOpen, "no-open", false, "print the address and leave the browser alone")
	f.StringVar(&o.spool, "spool", "",
		"`FOLDER` with room for copies of dropped files, 2 GB each (default the system's for temporary files)")
	f.BoolVar(&o.operator, "operator", false,
		"show tenants, clients and keys, too, with the AWS credentials of this machine (always for a local cloud)")
	f.StringVar(&o.prefix, "prefix", "",
		"`NAME` that the stack has as its parameter Prefix, for --operator (default sluice)")
	f.StringVar(&o.listenAddress, "listen-address", "127.0.0.1:0",
		"`HOST:PORT` at which events are received when the page listens to them; port 0 takes a free one")
	f.StringVar(&o.listenURL, "listen-url", "",
		"`URL` at which the service reaches --listen-address, such as a tunnel (not needed for a local cloud)")
}

// configure returns what the flags, and those of a connection, ask for.
func (o *consoleOptions) configure(ctx context.Context, conn *service.Connection) (console.Config, error) {
	if !console.IsBuilt() {
		return console.Config{}, errors.New(console.NotBuilt)
	}
	config, from, err := conn.Resolve(ctx)
	if err != nil {
		return console.Config{}, err
	}
	c, err := client.New(config)
	if err != nil {
		return console.Config{}, err
	}
	info := console.Info{
		Version: versionOfProgram(), APIURL: c.APIURL(), Connection: string(from),
		TenantID: service.TenantOf(config.Scope), TokenURL: config.TokenURL,
		ClientID: config.ClientID, Flags: conn.FlagsOf(from, o.prefix),
	}
	if info, err := os.Stat(o.spool); o.spool != "" && (err != nil || !info.IsDir()) {
		return console.Config{}, command.Usagef("--spool %s is not a folder", o.spool)
	}
	served := console.Config{Client: c, Info: info, Spool: o.spool}
	if from == service.SourceLocalCloud {
		data := cmp.Or(conn.Data, localcloud.DefaultDataDir)
		served.Metrics = &console.Metrics{Data: data, Prefix: local.PrefixOf(data)}
	}
	if from == service.SourceLocalCloud || o.operator {
		served.Operator = admin.Operator{IsLocal: from == service.SourceLocalCloud, Data: conn.Data, Prefix: o.prefix}
	}
	if from == service.SourceLocalCloud || o.listenURL != "" {
		served.Listen = &console.Listen{Address: o.listenAddress, URL: o.listenURL}
	}
	return served, nil
}

// serve serves the console until the context ends, or its terminal is closed.
func (o *consoleOptions) serve(ctx context.Context, config console.Config, ui *terminal.Terminal) error {
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		var stop func()
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	socket, err := listenOnThisMachine(o.address)
	if err != nil {
		return err
	}
	defer socket.Close()
	config.Address = socket.Addr().String()
	handler, err := console.New(config)
	if err != nil {
		return err
	}
	defer func() { endConsole(handler, ui) }()
	server := &http.Server{
		Handler: handler, ConnContext: console.ConnContext, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(socket) }()
	defer server.Close()
	address := handler.NewAddress()
	ui.Printf("The console of tenant %s at %s (%s) is at\n\n  %s\n\nfor one browser; Ctrl-C ends it.\n",
		linefile.Printable(config.Info.TenantID), linefile.Printable(config.Info.APIURL),
		linefile.Printable(config.Info.Connection), address)
	if !o.noOpen && hasDesktop() {
		if err := openBrowser(ctx, address); err != nil {
			ui.Printf("The browser cannot be opened (%v): open the address in one.\n", err)
		}
	}
	if o.input != nil {
		ui.Printf("Enter prints another address, for another browser.\n")
		go printAddresses(o.input, handler, ui)
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return fmt.Errorf("the console cannot be served any more: %w", err)
	}
}

// endConsole removes dropped files, and prints how to go on with what is left behind.
func endConsole(s *console.Server, ui *terminal.Terminal) {
	left, err := s.Close()
	for _, u := range left {
		ui.Printf("%s\n", u)
	}
	if err != nil {
		ui.Printf("Not everything was removed: %v\n", err)
	}
}

// printAddresses prints a new address for each line of the input.
func printAddresses(input io.Reader, s *console.Server, ui *terminal.Terminal) {
	for lines := bufio.NewScanner(input); lines.Scan(); {
		ui.Printf("  %s\n\n", s.NewAddress())
	}
}

// listenOnThisMachine listens at an address that only programs of this machine reach; "" stands for consoleAddress or a
// free port.
func listenOnThisMachine(address string) (net.Listener, error) {
	if address == "" {
		socket, err := net.Listen("tcp", consoleAddress)
		if errors.Is(err, syscall.EADDRINUSE) {
			return net.Listen("tcp", "127.0.0.1:0")
		}
		return socket, err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, command.Usagef("--address %s is not of the form HOST:PORT", address)
	}
	if host == "localhost" || host == "" {
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return nil, command.Usagef("--address %s is not on this machine: the console acts with your credentials for "+
			"whoever reaches it",
			address)
	}
	socket, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("cannot listen at %s: %w", address, err)
	}
	return socket, nil
}

// hasDesktop reports whether a browser can show a window. Without one, xdg-open may take a browser for terminals, which
// would use the address up and show nothing.
func hasDesktop() bool {
	return runtime.GOOS != "linux" ||
		cmp.Or(os.Getenv("DISPLAY"), os.Getenv("WAYLAND_DISPLAY"), os.Getenv("WSL_DISTRO_NAME"),
			os.Getenv("BROWSER")) != ""
}

// openBrowser has the system open an address. It does not wait for the browser.
func openBrowser(ctx context.Context, address string) error {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return fmt.Errorf("there is no %s", program)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), path, address)
	process.NewSession(cmd) // Ctrl-C is for the console
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // it says itself what it cannot do
	return nil
}

// versionOfProgram returns the version of this program, for people.
func versionOfProgram() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil || info.Main.Version == "" {
		return "(unknown)"
	}
	return info.Main.Version
}
