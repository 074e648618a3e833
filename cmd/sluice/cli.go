package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kong"
)

// streams are the process's own, or a test's.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// Exit codes of every command.
const (
	exitOK      = 0
	exitFailed  = 1 // the run failed, or the command could not do its work
	exitInvalid = 2 // the workflow or the command line is wrong
	exitParked  = 3 // the run waits for a person
)

// exitError ends the process with a code, and a message unless it is empty.
type exitError struct {
	code    int
	message string
}

func (e exitError) Error() string { return e.message }

// commandLine is the whole command line. Settings come from flags or the
// environment.
type commandLine struct {
	Config config `embed:""`

	Serve    serveCommand    `cmd:"" default:"withargs" help:"Start the server (the default)."`
	Run      runCommand      `cmd:"" help:"Run a workflow file and print what it gives."`
	Validate validateCommand `cmd:"" help:"Check a workflow file."`
	Import   importCommand   `cmd:"" help:"Store workflow files."`
	Export   exportCommand   `cmd:"" help:"Print a stored workflow in canonical form."`
	Migrate  migrateCommand  `cmd:"" help:"Bring the database to this version's schema."`
	VerifyDB verifyCommand   `cmd:"" name:"verify-db" help:"Look for rows that no run may leave behind."`
	User     userCommand     `cmd:"" help:"Manage who may sign in."`
	Bench    benchCommand    `cmd:"" help:"Measure the engine on this machine's databases."`
	Version  versionCommand  `cmd:"" help:"Print the version."`
}

// dispatch parses a command line and runs its command.
func dispatch(ctx context.Context, args []string, s streams) error {
	var cli commandLine
	var exited *int
	parser, err := kong.New(&cli,
		kong.Name("sluice"),
		kong.Description("Draw, run, approve and watch multi-step AI workflows."),
		kong.UsageOnError(),
		kong.Writers(s.out, s.err),
		kong.Exit(func(code int) { exited = &code }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(s),
	)
	if err != nil {
		return fmt.Errorf("build command line: %w", err)
	}
	parsed, err := parser.Parse(args)
	if exited != nil {
		return exitError{code: *exited}
	}
	if err != nil {
		if _, ok := errors.AsType[*kong.ParseError](err); ok {
			return exitError{code: exitInvalid, message: err.Error()}
		}
		return err
	}
	return parsed.Run(&cli.Config)
}
