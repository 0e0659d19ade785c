package main

import "context"

func runDemo(context.Context, []string, streams) error { return nil }
