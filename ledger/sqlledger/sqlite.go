// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package sqlledger

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/reprise-mcp/reprise/ledger"
)

const (
	// The file says in its header whose it is, so that no other database is ever written to.
	applicationID = 0x52707273 // "Rprs"
	schemaVersion = 1
)

// A record whose result is NULL is claimed; with a result, of whatever length, it is completed. The times are Unix
// milliseconds. The first index counts an owner's live flows, the second finds what has expired.
const schema = `
CREATE TABLE flow (
	flow        BLOB PRIMARY KEY,
	owner       BLOB NOT NULL,
	fingerprint BLOB NOT NULL,
	expires     INTEGER NOT NULL,
	result      BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX flow_owner ON flow (owner, expires);
CREATE INDEX flow_expires ON flow (expires);
`

const (
	// One statement, whose count of affected rows decides: 1 is won; 0 is a record that stands, or the quota.
	claimSQL = `INSERT INTO flow (flow, owner, fingerprint, expires) SELECT ?1, ?2, ?3, ?4
		WHERE (SELECT count(*) FROM (SELECT 1 FROM flow WHERE owner = ?2 AND expires > ?5 LIMIT ?6)) < ?6
		ON CONFLICT DO NOTHING`
	lookupSQL   = `SELECT fingerprint, result IS NOT NULL, result FROM flow WHERE flow = ?1`
	completeSQL = `UPDATE flow SET result = ?2 WHERE flow = ?1 AND result IS NULL`
	sweepSQL    = `DELETE FROM flow WHERE flow IN (SELECT flow FROM flow WHERE expires <= ?1 ORDER BY expires LIMIT ?2)`

	// After sweepEvery claims, up to sweepBatch expired records go: more than came in.
	sweepEvery = 256
	sweepBatch = 1024
)

// A SchemaError says that a file holds something else than a ledger this version can read. Nothing in it was changed.
type SchemaError struct {
	Path  string // of the file
	Found int    // the version of the ledger in the file; 0 if it is no ledger at all
	Known int    // the newest version that this package can read
}

// Error says what to do.
func (e *SchemaError) Error() string {
	if e.Found == 0 {
		return fmt.Sprintf("sqlledger: %s is the database of another program; name another file", e.Path)
	}
	return fmt.Sprintf("sqlledger: %s was written by a newer version of this package (schema %d, this one reads up to %d); upgrade this program, or go back to the file of before its upgrade once every flow since has expired", e.Path, e.Found, e.Known)
}

// sqlite is the backend. Its writing half belongs to the group's goroutine.
type sqlite struct {
	path     string
	file     fs.FileInfo // what path named when it was opened
	wait     time.Duration
	perOwner int

	readers *sql.DB
	read    *sql.Stmt

	writers *sql.DB // of one connection
	writer  *writer // nil after a failure that left its state in doubt
	unswept int     // claims since the last sweep
}

// A writer is a connection with its statements.
type writer struct {
	conn                           *sql.Conn
	claim, lookup, complete, sweep *sql.Stmt
}

// finalize closes the statements. It comes before the end of the connection: SQLite keeps a closed one alive, with its
// locks, for as long as it has statements, and database/sql does not track those of a sql.Conn.
func (w *writer) finalize() error {
	var errs []error
	for _, stmt := range []*sql.Stmt{w.claim, w.lookup, w.complete, w.sweep} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	return errors.Join(errs...)
}

// creating keeps Opens of one process from creating a file while another has it open: closing any descriptor of a file
// drops the locks that SQLite holds on it in the same process.
var creating sync.Mutex

func openSQLite(ctx context.Context, path string, c Config) (_ *sqlite, err error) {
	path, file, err := ensureFile(path)
	if err != nil {
		return nil, err
	}
	s := &sqlite{path: path, file: file, wait: c.Wait, perOwner: c.PerOwner, unswept: sweepEvery}
	// The writer waits for locks itself, see begin.
	s.writers, err = openDB(path, 1, 0, false)
	if err == nil {
		s.readers, err = openDB(path, 4, c.Wait, true)
	}
	if err == nil {
		err = s.prepare(ctx)
	}
	if err != nil {
		s.close()
		if _, ok := errors.AsType[*SchemaError](err); ok {
			return nil, err
		}
		return nil, &ledger.UnavailableError{Op: "open", Err: fmt.Errorf("%s: %w", path, explain(err))}
	}
	return s, nil
}

// ensureFile returns the absolute path of the file and what it is.
func ensureFile(path string) (string, fs.FileInfo, error) {
	if path == "" || path == ":memory:" || strings.HasPrefix(path, "file:") {
		return "", nil, fmt.Errorf("sqlledger: %q is not the path of a file; name one on a local disk, or use ledger.Memory for a single process", path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", nil, fmt.Errorf("sqlledger: %w", err)
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return "", nil, fmt.Errorf("sqlledger: there is no folder %s for the ledger; make one on a local disk that outlives restarts, for this user only (mkdir -p -m 700), or name another", dir)
	}
	creating.Lock()
	defer creating.Unlock()
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		var f *os.File
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			err = f.Close()
		}
		if err == nil || errors.Is(err, fs.ErrExist) { // another process may have been first
			info, err = os.Stat(path)
		}
	}
	switch {
	case err != nil:
		return "", nil, &ledger.UnavailableError{Op: "open", Err: explain(err)}
	case !info.Mode().IsRegular():
		return "", nil, fmt.Errorf("sqlledger: %s is not a regular file; name another", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0:
		return "", nil, fmt.Errorf("sqlledger: anybody on this host can write to %s, and so redeem a flow twice; take that away (chmod 600)", path)
	}
	return path, info, nil
}

func openDB(path string, connections int, busy time.Duration, readOnly bool) (*sql.DB, error) {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") { // a Windows drive
		slashed = "/" + slashed
	}
	query := url.Values{
		"mode":      {"rw"}, // the file exists; if it has gone, do not make another
		"_error_rc": {"1"},
		"_pragma": {
			fmt.Sprintf("busy_timeout(%d)", busy.Milliseconds()),
			"synchronous(FULL)",
			"fullfsync(1)", // macOS: fsync alone does not reach the disk
			"checkpoint_fullfsync(1)",
			"trusted_schema(0)",
			fmt.Sprintf("query_only(%t)", readOnly),
		},
	}
	connector, err := driver.NewConnector((&url.URL{Scheme: "file", Path: slashed, RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// prepare brings the file to the current schema and prepares the statements.
func (s *sqlite) prepare(ctx context.Context) error {
	conn, err := s.writerConn(ctx)
	if err != nil {
		return err
	}
	if err := s.migrate(ctx, conn); err != nil {
		conn.Close()
		return err
	}
	if err := conn.Close(); err != nil { // back to the pool, for connect
		return err
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	return s.locked(ctx, func() (err error) {
		s.read, err = s.readers.PrepareContext(ctx, lookupSQL)
		return err
	})
}

// writerConn waits, because already the pragmas of a new connection read the schema: they find the file locked while another
// process turns it to WAL.
func (s *sqlite) writerConn(ctx context.Context) (conn *sql.Conn, err error) {
	err = s.locked(ctx, func() error {
		conn, err = s.writers.Conn(ctx)
		return err
	})
	return conn, err
}

func (s *sqlite) migrate(ctx context.Context, conn *sql.Conn) error {
	// Look before touching: the file could be somebody else's.
	if _, err := s.version(ctx, conn); err != nil {
		return err
	}
	// The journal mode is kept in the file, for all who open it.
	if err := s.locked(ctx, func() error {
		var mode string
		if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
			return err
		}
		if mode != "wal" {
			return fmt.Errorf("the file system offers no write-ahead log (journal mode %q); use a local disk", mode)
		}
		return nil
	}); err != nil {
		return err
	}
	// Also where there is nothing to do: a file that cannot be written must be noticed now.
	if err := s.begin(ctx, conn); err != nil {
		return err
	}
	version, err := s.version(ctx, conn) // another process may have been first
	if err == nil && version == 0 {
		_, err = conn.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", applicationID, schemaVersion))
	}
	// A migration from version 1 to 2 goes here.
	if err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	}
	return err
}

// version returns the schema's version, 0 if the file is empty.
func (s *sqlite) version(ctx context.Context, conn *sql.Conn) (int, error) {
	var id, version, objects int
	err := s.locked(ctx, func() error {
		// One statement, so that the three belong together.
		return conn.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
			(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).Scan(&id, &version, &objects)
	})
	switch {
	case err != nil:
		return 0, err
	case id == 0 && version == 0 && objects == 0:
		return 0, nil
	case id != applicationID || version < 1:
		return 0, &SchemaError{Path: s.path, Known: schemaVersion}
	case version > schemaVersion:
		return 0, &SchemaError{Path: s.path, Found: version, Known: schemaVersion}
	}
	return version, nil
}

// locked calls f again while the file is locked, for as long as the configuration says. It asks more often than
// SQLite's own busy handler does: while one process commits without a pause, the gaps between its transactions are
// short, and a process that seldom looks would wait for its whole time.
func (s *sqlite) locked(ctx context.Context, f func() error) error {
	deadline := time.Now().Add(s.wait)
	for {
		err := f()
		if code := resultCode(err); code != sqlite3.SQLITE_BUSY && code != sqlite3.SQLITE_LOCKED {
			return err
		}
		if !time.Now().Before(deadline) {
			return err
		}
		timer := time.NewTimer(500*time.Microsecond + rand.N(time.Millisecond))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// begin takes the write lock at the start, so that nothing which follows can fail because of a lock.
func (s *sqlite) begin(ctx context.Context, conn *sql.Conn) error {
	return s.locked(ctx, func() error {
		_, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE")
		return err
	})
}

// connect makes sure that there is a writer.
func (s *sqlite) connect(ctx context.Context) error {
	if s.writer != nil {
		return nil
	}
	conn, err := s.writerConn(ctx)
	if err != nil {
		return err
	}
	w := &writer{conn: conn}
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{{&w.claim, claimSQL}, {&w.lookup, lookupSQL}, {&w.complete, completeSQL}, {&w.sweep, sweepSQL}} {
		err := s.locked(ctx, func() (err error) {
			*p.stmt, err = conn.PrepareContext(ctx, p.text)
			return err
		})
		if err != nil {
			w.finalize()
			conn.Close()
			return err
		}
	}
	s.writer = w
	return nil
}

// disconnect throws the writer's connection away, and with it a transaction that may be open on it.
func (s *sqlite) disconnect() {
	s.writer.finalize()
	s.writer.conn.Raw(func(any) error { return sqldriver.ErrBadConn })
	s.writer.conn.Close()
	s.writer = nil
}

// write implements backend.
func (s *sqlite) write(take func() []*op) (ops []*op, unknown bool, err error) {
	ctx := context.Background() // a transaction belongs to many callers; none of them can call it off
	defer func() { err = explain(err) }()
	if err := s.start(ctx); err != nil {
		return nil, false, err
	}
	ops = take()
	sweep := s.unswept >= sweepEvery
	err = s.apply(ctx, ops, sweep)
	if resultCode(err) == sqlite3.SQLITE_FULL && !sweep {
		// Expired records may be what fills it.
		s.rollback(ctx)
		if err := s.start(ctx); err != nil {
			return ops, false, err
		}
		err = s.apply(ctx, ops, true)
	}
	if err == nil {
		err = s.inPlace()
	}
	if err != nil || len(ops) == 0 {
		s.rollback(ctx)
		return ops, false, err
	}
	if _, err = s.writer.conn.ExecContext(ctx, "COMMIT"); err != nil {
		// With these two the last page of the transaction was certainly not written. Any other failure can have
		// come after it, and what was written can count after a crash.
		code := resultCode(err)
		unknown = code != sqlite3.SQLITE_FULL && code != sqlite3.SQLITE_BUSY
		s.rollback(ctx)
	}
	return ops, unknown, err
}

// start opens a transaction, on a new connection if need be.
func (s *sqlite) start(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	return s.begin(ctx, s.writer.conn)
}

// apply carries out ops in the open transaction.
func (s *sqlite) apply(ctx context.Context, ops []*op, sweep bool) error {
	if len(ops) == 0 {
		return nil
	}
	if sweep {
		now := ops[0].now
		for _, o := range ops {
			if o.now.Before(now) {
				now = o.now
			}
		}
		if _, err := s.writer.sweep.ExecContext(ctx, milli(now), sweepBatch); err != nil {
			return err
		}
		s.unswept = 0
	}
	for _, o := range ops {
		do := s.complete
		if o.claim != nil {
			do = s.claim
		}
		if err := do(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

func (s *sqlite) claim(ctx context.Context, o *op) error {
	c := o.claim
	inserted, err := affected(s.writer.claim.ExecContext(ctx, c.Flow[:], c.Owner[:], c.Fingerprint[:], ceilMilli(c.Expires), milli(o.now), s.perOwner))
	if err != nil {
		return err
	}
	o.won, o.refusal = inserted, nil
	if o.won {
		s.unswept++
		o.record = ledger.Record{Status: ledger.Claimed, Fingerprint: c.Fingerprint}
		return nil
	}
	if o.record, err = scan(s.writer.lookup.QueryRowContext(ctx, c.Flow[:])); err != nil {
		return err
	}
	if o.record.Status == ledger.Unspent {
		o.refusal = ledger.ErrQuota
	}
	return nil
}

func (s *sqlite) complete(ctx context.Context, o *op) error {
	updated, err := affected(s.writer.complete.ExecContext(ctx, o.flow[:], o.result))
	if err != nil || updated {
		o.refusal = nil
		return err
	}
	record, err := scan(s.writer.lookup.QueryRowContext(ctx, o.flow[:]))
	if err != nil {
		return err
	}
	if o.refusal = ledger.ErrUnclaimed; record.Status == ledger.Completed {
		o.refusal = sameResult(record.Result, o.result)
	}
	return nil
}

func affected(r sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n == 1, err
}

func scan(row *sql.Row) (ledger.Record, error) {
	var r ledger.Record
	var fingerprint, result []byte
	var completed bool
	switch err := row.Scan(&fingerprint, &completed, &result); {
	case errors.Is(err, sql.ErrNoRows):
		return r, nil
	case err != nil:
		return r, err
	case len(fingerprint) != len(r.Fingerprint):
		return r, fmt.Errorf("the ledger file is damaged: it holds a fingerprint of %d bytes", len(fingerprint))
	}
	r.Status = ledger.Claimed
	copy(r.Fingerprint[:], fingerprint)
	if completed {
		r.Status, r.Result = ledger.Completed, result
	}
	return r, nil
}

// rollback ends the open transaction. SQLite may have done so itself; a fresh connection is then as good as any.
func (s *sqlite) rollback(ctx context.Context) {
	if _, err := s.writer.conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		s.disconnect()
	}
}

// inPlace fails if the file is no longer what its path names: another process that opens the path would then not see
// the claims that are made here.
func (s *sqlite) inPlace() error {
	info, err := os.Stat(s.path)
	if err == nil && !os.SameFile(info, s.file) {
		err = errors.New("another file is in its place")
	}
	if err != nil {
		return fmt.Errorf("the ledger file was moved or removed while it was open; put it back, or stop every process that uses it and start them again once no flow of theirs is live: %w", err)
	}
	return nil
}

func (s *sqlite) lookup(ctx context.Context, flow ledger.FlowID) (ledger.Record, error) {
	if err := s.inPlace(); err != nil {
		return ledger.Record{}, err
	}
	r, err := scan(s.read.QueryRowContext(ctx, flow[:]))
	return r, explain(err)
}

func (s *sqlite) close() error {
	var errs []error
	if s.writer != nil {
		errs = append(errs, s.writer.finalize(), s.writer.conn.Close())
	}
	for _, db := range []*sql.DB{s.readers, s.writers} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// resultCode returns SQLite's primary result code, 0 if err is not from SQLite.
func resultCode(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// explain says what to do about an error.
func explain(err error) error {
	code := resultCode(err)
	if errors.Is(err, fs.ErrPermission) {
		code = sqlite3.SQLITE_PERM
	}
	switch code {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("another process keeps the ledger file locked; look for one that is stopped, or a tool that has it open: %w", err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("the ledger file cannot be written; give this user the right to write to it and to its folder: %w", err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("the disk of the ledger file is full; make room: %w", fullError{err})
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("the ledger file is damaged or no ledger; keep it aside and start with a new one once no flow is live (the longest lifetime of a flow after the last claim): %w", err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("the disk of the ledger file failed: %w", err)
	}
	return err
}

// fullError is SQLite's error and ledger.ErrFull.
type fullError struct{ err error }

func (e fullError) Error() string   { return e.err.Error() }
func (e fullError) Unwrap() []error { return []error{e.err, ledger.ErrFull} }
