/**
 * Options of Node with which the daemons are started, also by `bin/`.
 *
 * V8's young generation grows with what is allocated per second, to some 100 MiB, and nothing is gained by it: a start with 10,000 Services or
 * with 2,000 policies takes as long with 24 (three semi-spaces of 8), and 80 to 90 MiB less at its end.
 */
export const DAEMON_OPTIONS = ['--max-semi-space-size=8'] as const;
