package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/seed-2cee110a/triage"

// mayImport says which packages of the module each package may import. A package below one of these follows the same
// row, and may import its own family.
var mayImport = map[string][]string{
	"policies":   {},
	"engine":     {},
	"traces":     {},
	"sim":        {"policies", "engine", "traces"},
	"reports":    {"sim", "policies", "engine", "traces"},
	"cmd/triage": {"reports", "sim", "policies", "engine", "traces"},
}

// unsteady packages of the standard library would let a policy look beyond its arguments. It may lock, and handle
// durations.
var unsteady = []string{"math/rand", "math/rand/v2", "os", "net", "net/http", "unsafe"}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range listed(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		family, allowed := row(name)
		if family == "" {
			t.Errorf("package %s has no row in the table of allowed imports", name)
			continue
		}
		seen[family] = true
		for _, i := range p.Imports {
			if why := refused(name, family, allowed, i); why != "" {
				t.Errorf("%s imports %s: %s", name, i, why)
			}
		}
	}
	for family := range mayImport {
		if !seen[family] {
			t.Errorf("package %s is in the table and not in the module", family)
		}
	}
}

// refused says why the package of that name may not import i, "" if it may.
func refused(name, family string, allowed []string, i string) string {
	target, inside := strings.CutPrefix(i, module+"/")
	switch {
	case inside && (target == family || strings.HasPrefix(target, family+"/")):
		return ""
	case inside:
		if to, _ := row(target); !slices.Contains(allowed, to) {
			return "may import only " + strings.Join(allowed, ", ")
		}
	case name == "policies" && slices.Contains(unsteady, i):
		return "must decide the same again, from what it is told alone"
	case name == "policies" && (i == "C" || strings.Contains(strings.Split(i, "/")[0], ".")):
		return "may import only the standard library, because it ships to live routers"
	}
	return ""
}

// row finds the package's row: its own, or that of the package it is below.
func row(name string) (string, []string) {
	for family, allowed := range mayImport {
		if name == family || strings.HasPrefix(name, family+"/") {
			return family, allowed
		}
	}
	return "", nil
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func listed(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", module+"/...")
	out, err := cmd.Output()
	if err != nil {
		var e *exec.ExitError
		if errors.As(err, &e) {
			t.Fatalf("%v: %s", err, e.Stderr)
		}
		t.Fatal(err)
	}
	var all []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// The table must refuse what it is there to refuse.
func TestImportsRefuses(t *testing.T) {
	for _, edge := range [][2]string{
		{"policies", "gonum.org/v1/gonum/stat"}, {"policies", module + "/engine"}, {"policies", "os"}, {"policies", "math/rand/v2"},
		{"policies", "net/http"}, {"policies", "unsafe"}, {"policies/policytest", module + "/sim"},
		{"engine", module + "/traces"}, {"traces", module + "/engine"}, {"sim", module + "/reports"},
		{"sim/tune", module + "/reports"}, {"reports", module + "/cmd/triage"},
	} {
		family, allowed := row(edge[0])
		if refused(edge[0], family, allowed, edge[1]) == "" {
			t.Errorf("%s may import %s, want it refused", edge[0], edge[1])
		}
	}
	for _, edge := range [][2]string{
		{"policies", "time"}, {"policies", "sync"}, {"policies/promsignals", "net/http"}, {"policies/policytest", "pgregory.net/rapid"}, {"policies/policytest", module + "/policies"}, {"sim/tune", module + "/engine"},
		{"reports", module + "/sim/tune"}, {"cmd/triage", module + "/reports"},
	} {
		family, allowed := row(edge[0])
		if why := refused(edge[0], family, allowed, edge[1]); why != "" {
			t.Errorf("%s may not import %s: %s", edge[0], edge[1], why)
		}
	}
}
