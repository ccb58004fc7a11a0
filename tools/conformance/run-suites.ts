/** Suites on a cluster that they share: it is there for them, and gone after them or as soon as the run is stopped. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { alongside, onAbort } from '../../base/abort.ts';
import type { Sandbox } from '../../sandbox/index.ts';
import { NODES, startCluster } from './cluster.ts';
import type { SuiteReport } from './ginkgo-report.ts';
import { createRunFolder, describeCommit, KEPT_FOLDER, readParts, removeOtherRuns } from './kept-run.ts';
import { type KnownFailure, unexpected } from './known-failures.ts';
import { copyLogs } from './logs.ts';
import { mergeReports } from './merged-report.ts';
import { ensureOtherPrograms, prepareSuite } from './other-suites.ts';
import { namesPolicy, serveNames } from './outside-names.ts';
import { countsOf } from './page.ts';
import type { PlannedSuite } from './plan.ts';
import type { ConformancePrograms } from './programs.ts';
import type { RunFacts } from './run-facts.ts';
import { runSuite } from './run-suite.ts';
import type { Suite } from './suites.ts';
import { enforceTenancy, runTenants, sharedNetwork } from './tenants.ts';

export interface RunSettings {
  /** The repository's. */
  readonly root: string;
  readonly programs: ConformancePrograms;
  /** Of Kubernetes. */
  readonly version: string;
  readonly processes: number;
  readonly limit: string;
  readonly known: readonly KnownFailure[];
  readonly progress: (text: string) => void;
  readonly signal: AbortSignal;
}

/** @param planned suites that need the same cluster @returns what makes the run fail */
export const runSuites = async (planned: readonly PlannedSuite[], settings: RunSettings): Promise<string[]> => {
  const { signal, root, programs, progress } = settings;
  const stop = new Promise<void>((resolve) => onAbort(signal, resolve));
  const [first] = planned;
  if (first === undefined) return [];
  const { cluster } = first.suite;
  const others = await ensureOtherPrograms(
    planned.map(({ suite }) => suite.program.kind),
    { root, progress, signal },
  );
  const parts = { root, programs, others, cluster };
  await using sandbox = await startCluster({ ...parts, progress, onError: console.error, stop });
  // It ends what runs there, so that nothing waits for it.
  const stopListening = onAbort(signal, () => sandbox.down());
  const complaints: string[] = [];
  try {
    for (const suite of planned) complaints.push(...(await runOne(sandbox, suite, settings)));
  } finally {
    stopListening();
  }
  return complaints;
};

const runOne = async (sandbox: Sandbox, planned: PlannedSuite, settings: RunSettings): Promise<string[]> => {
  const { suite, kind, focus } = planned;
  const { root, processes, limit, progress, known, signal } = settings;
  progress(`\n${suite.title}`);
  const folder = await folderFor(planned, await factsOf(sandbox, settings));
  const what = {
    program: suite.program,
    isTenants: suite.network?.per === 'suite',
    focus,
    skip: skipPattern(suite),
    processes,
    limit,
  };
  const run = { ...what, cluster: sandbox.name, folder, progress };
  let report: SuiteReport;
  await prepareSuite(sandbox, suite.program, { root, progress, signal });
  try {
    report = await inTenants(sandbox, suite, signal, () => runSuite(run));
  } finally {
    if (!signal.aborted) await copyLogs(sandbox, join(folder, 'log'));
  }
  signal.throwIfAborted();
  progress(`${suite.title}: ${countsOf(report)}`);
  if (kind === 'some')
    return unexpected(
      suite.name,
      report,
      known.filter(({ spec }) => new RegExp(focus).test(spec)),
    );
  if (kind === 'whole') await removeOtherRuns(suite.name, folder);
  const parts = await readParts(suite.name);
  return unexpected(suite.name, mergeReports(parts.map((part) => part.report)), known);
};

const skipPattern = ({ exclusions }: Suite): string => exclusions.map(({ pattern }) => pattern).join('|');

/** What a user names is only shown, and not kept beside the runs that the page is made of. */
const folderFor = ({ suite, kind }: PlannedSuite, facts: RunFacts): Promise<string> =>
  createRunFolder(suite.name, facts, kind === 'some' ? join(KEPT_FOLDER, 'some') : KEPT_FOLDER);

const factsOf = async (sandbox: Sandbox, { version, processes }: RunSettings): Promise<RunFacts> => {
  const { datapath, guest } = await sandbox.status();
  return {
    ...{ version, commit: describeCommit(), started: new Date().toISOString(), nodes: NODES },
    kernel: guest === undefined ? 'of the machine' : `of a guest (${guest.accelerator})`,
    datapath: datapath === 'system' ? 'kernel' : 'userspace',
    ...{ processors: availableParallelism(), processes },
  };
};

const inTenants = async (
  sandbox: Sandbox,
  { name, network, cluster }: Suite,
  signal: AbortSignal,
  work: () => Promise<SuiteReport>,
): Promise<SuiteReport> => {
  if (network === undefined) return await work();
  const [client, objects] = await Promise.all([sandbox.client(), sandbox.objects()]);
  const tenants = { suite: name, client, objects, network: network.spec, onError: console.error };
  if (cluster.names === 'outside') await objects.apply(namesPolicy(name, await serveNames(sandbox)));
  await enforceTenancy(tenants, signal);
  if (network.per === 'suite') {
    await objects.apply([sharedNetwork(name, network.spec)]);
    return await work();
  }
  return await alongside((until) => runTenants(tenants, until), signal, work);
};
