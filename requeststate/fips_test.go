// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The mode is chosen when a process starts, so this test starts itself again in each: with the validated module, and with
// everything else forbidden.
func TestUnderFIPS140(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"on", "only"} {
		t.Run(mode, func(t *testing.T) {
			cmd := exec.Command(exe, "-test.v", "-test.run", "^(TestTokenVectors|TestDigestVectors|TestWhatIsSealedIsOpened|TestRejectionsAndTheirOrder|TestKeyringText|TestRotationLosesNoFlow)$")
			cmd.Env = append(os.Environ(), "GODEBUG=fips140="+mode)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(string(out), "--- PASS: TestTokenVectors/") {
				t.Errorf("nothing was tested:\n%s", out)
			}
		})
	}
}
