package main

import (
	"fmt"

	"cel.dev/cel-go/cel"
	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
)

// exprEngine is github.com/expr-lang/expr with typed variables and one virtual machine for all evaluations.
type exprEngine struct{}

func (exprEngine) name() string { return "expr" }

func (exprEngine) explain() string { return withVersion("github.com/expr-lang/expr") }

func (exprEngine) compile(c benchCase) (func(*entity) (bool, error), error) {
	type variables struct {
		P map[string]string `expr:"p"`
	}
	program, err := expr.Compile(c.expr, expr.Env(variables{}), expr.AsBool())
	if err != nil {
		return nil, err
	}
	var machine vm.VM
	env := &variables{}
	return func(e *entity) (bool, error) {
		env.P = e.values
		result, err := machine.Run(program, env)
		if err != nil {
			return false, err
		}
		return result.(bool), nil
	}, nil
}

// celEngine is cel-go with typed variables, checked and with constants folded.
type celEngine struct{}

func (celEngine) name() string { return "cel-go" }

func (celEngine) explain() string { return withVersion("cel.dev/cel-go") }

// celEnvironment is made once: it is the same for all conditions.
var celEnvironment = func() *cel.Env {
	env, err := cel.NewEnv(cel.Variable("p", cel.MapType(cel.StringType, cel.StringType)))
	if err != nil {
		panic(err)
	}
	return env
}()

func (celEngine) compile(c benchCase) (func(*entity) (bool, error), error) {
	checked, issues := celEnvironment.Compile(c.cel)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	program, err := celEnvironment.Program(checked, cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, err
	}
	variables := map[string]any{}
	return func(e *entity) (bool, error) {
		variables["p"] = e.values
		result, _, err := program.Eval(variables)
		if err != nil {
			return false, err
		}
		met, ok := result.Value().(bool)
		if !ok {
			return false, fmt.Errorf("cel-go returns %v", result)
		}
		return met, nil
	}, nil
}
