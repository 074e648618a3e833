// Command sluice is the whole product: server, workers, pages and command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// version is set by the linker in releases.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := execute(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}

// execute runs one command line and returns the exit code.
func execute(ctx context.Context, args []string, io streams) int {
	err := dispatch(ctx, args, io)
	var exit exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		if exit.message != "" {
			fmt.Fprintln(io.err, "sluice:", exit.message)
		}
		return exit.code
	default:
		fmt.Fprintln(io.err, "sluice:", err)
		return exitFailed
	}
}
