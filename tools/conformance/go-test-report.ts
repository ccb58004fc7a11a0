/** What a program of Go's `testing` writes with `-test.v=test2json`, as a report of ginkgo: a spec for each test that has no subtests. Pure. */

interface Ended {
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly seconds: number;
}

/** @returns JSON for `parseReport` */
export const reportOfGoTest = (log: string): string => {
  const { planned, started, ended, output } = read(log);
  const isParent = (name: string): boolean => started.some((other) => other.startsWith(`${name}/`));
  const hasFailed = (name: string): boolean => ended.get(name)?.state === 'failed';
  const hasFailedOfItself = (name: string): boolean =>
    hasFailed(name) && !started.some((other) => other.startsWith(`${name}/`) && hasFailed(other));
  // What fails before its subtests start, or beside them, would otherwise be seen nowhere.
  const specs = started.filter((name) => name.includes('/') && (!isParent(name) || hasFailedOfItself(name)));
  const [top = ''] = started;
  const reasons = [
    ...(started.length === 0 ? [firstOf(log)] : []),
    ...(hasFailedOfItself(top) ? [`${top}: ${messageFrom(output.get(top) ?? [])}`] : []),
    ...(started.length > 0 && !ended.has(top) ? [`${top} did not end`] : []),
  ];
  const total = ended.get(top)?.seconds ?? specs.reduce((sum, name) => sum + (ended.get(name)?.seconds ?? 0), 0);
  const reports = [
    ...specs.map((name) => specReport(name, ended.get(name), output.get(name) ?? [])),
    ...planned.filter((name) => !started.includes(name)).map(notStarted),
  ];
  return JSON.stringify([{ SpecialSuiteFailureReasons: reasons, RunTime: total * NANOSECONDS, SpecReports: reports }]);
};

const NANOSECONDS = 1e9;

const read = (log: string) => {
  /** Of ours: `testing` says nothing of tests that it has not started. */
  const planned: string[] = [];
  const started: string[] = [];
  const ended = new Map<string, Ended>();
  const output = new Map<string, string[]>();
  let current = '';
  for (const line of log.replaceAll(MARK, '').split('\n')) {
    const [, plan] = /^--- PLANNED: (\S+)$/.exec(line) ?? [];
    if (plan !== undefined) planned.push(plan);
    const [, event, running] = /^=== (RUN|NAME|CONT) +(\S+)/.exec(line) ?? [];
    const [, result = '', name, seconds] = /^ *--- (PASS|FAIL|SKIP): (\S+) \(([\d.]+)s\)/.exec(line) ?? [];
    if (running !== undefined) {
      current = running;
      if (event === 'RUN') started.push(running);
    } else if (name !== undefined) ended.set(name, { state: STATES[result] ?? 'failed', seconds: Number(seconds) });
    else output.set(current, [...(output.get(current) ?? []), line.trim()]);
  }
  return { planned, started, ended, output };
};

/** Before lines of `testing` itself, wherever they begin. */
const MARK = '\u0016';

const STATES: Readonly<Record<string, Ended['state']>> = { PASS: 'passed', FAIL: 'failed', SKIP: 'skipped' };

const notStarted = (name: string) => ({
  ...{ ContainerHierarchyTexts: [], LeafNodeType: 'It', LeafNodeText: name.split('/').slice(1).join(' ') },
  ...{ State: 'skipped', RunTime: 0, NumAttempts: 0 },
});

const specReport = (name: string, ended: Ended | undefined, output: readonly string[]) => ({
  ContainerHierarchyTexts: name.split('/').slice(1, -1),
  LeafNodeType: 'It',
  LeafNodeText: (name.split('/').at(-1) ?? '').replaceAll('_', ' '),
  State: ended?.state ?? 'interrupted',
  RunTime: (ended?.seconds ?? 0) * NANOSECONDS,
  NumAttempts: 1,
  ...(ended?.state === 'passed' ? {} : { Failure: { Message: messageFrom(output) } }),
});

/** What the test complains of, without what it says of objects that it makes. */
const messageFrom = (output: readonly string[]): string => {
  const lines = output.map((line) => line.replace(SOURCE, ''));
  const complaints = lines.filter((line) => COMPLAINT.test(line));
  return (complaints.length > 0 ? complaints : lines.filter((line) => line !== '')).join('\n') || 'it says nothing';
};

const SOURCE = /^[\w.-]+\.go:\d+: /;
const COMPLAINT = /^Expected connection|^FAILED to execute|^Error:|^panic:|has no SCTP/;

const firstOf = (log: string): string => log.split('\n').find((line) => line.trim() !== '') ?? 'it wrote nothing';
