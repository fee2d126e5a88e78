package admission

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"secateur/internal/access/limit"
	"secateur/internal/store/atomicfile"
)

// budgetFile keeps the day's sums, so that a restart does not renew budgets.
type budgetFile struct {
	path string // "": not kept

	mu    sync.Mutex // held while the file is written
	saved time.Time
}

// savePause is the minimum interval between two writes while models are called.
const savePause = 2 * time.Second

type budgetContent struct {
	Days []limit.DaySum `json:"days"`
}

// load reads the day's sums. A missing file has none.
func (f *budgetFile) load() ([]limit.DaySum, error) {
	if f.path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var content budgetContent
	if err == nil {
		err = json.Unmarshal(data, &content)
	}
	if err != nil {
		return nil, fmt.Errorf("what was spent today: %s: %w; delete the file to begin the day anew", f.path, err)
	}
	return content.Days, nil
}

// save replaces the file atomically.
func (f *budgetFile) save(days []limit.DaySum) error {
	data, err := json.Marshal(budgetContent{days})
	if err != nil {
		return err
	}
	return atomicfile.Replace(f.path, append(data, '\n'), false)
}

// keepBudgets writes the day's sums, unless the last write is more recent than pause.
func (c *Control) keepBudgets(pause time.Duration) error {
	if !c.budgets || c.kept.path == "" {
		return nil
	}
	c.kept.mu.Lock()
	defer c.kept.mu.Unlock()
	if time.Since(c.kept.saved) < pause {
		return nil
	}
	c.kept.saved = time.Now()
	if err := c.kept.save(c.Days()); err != nil {
		return fmt.Errorf("what was spent today is not kept: %w", err)
	}
	return nil
}

// Days lists today's sums.
func (c *Control) Days() []limit.DaySum {
	return slices.Concat(c.general.Days(), c.specific.Days())
}

// Restore adds the sums that another Control listed, so that new rules do not renew budgets.
func (c *Control) Restore(days []limit.DaySum) {
	c.general.Restore(days)
	c.specific.Restore(days)
}

// Close saves today's sums.
func (c *Control) Close() error { return c.keepBudgets(0) }
