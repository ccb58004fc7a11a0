/** A sandbox in a guest: the same program as on this machine, run there, with its forwarded ports on this machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessAborted } from '../../base/abort.ts';
import { atServer, kubeconfigFor } from '../api/kubeconfig.ts';
import { type Artifacts, findArtifacts } from '../artifacts.ts';
import { SandboxError } from '../errors.ts';
import { startNamespaces } from '../machine/namespaces.ts';
import type { Machine } from '../machine/types.ts';
import type { SandboxOptions, SandboxOptionsInput } from '../plan/options.ts';
import { run } from '../process/run.ts';
import type { ClusterCallbacks } from '../supervisor/cluster.ts';
import type { OwnedControl } from '../supervisor/cluster-control.ts';
import { serveControl } from '../supervisor/control-server.ts';
import { lastReport } from '../supervisor/detached.ts';
import { claimWorkspace, type Workspace } from '../supervisor/workspace.ts';
import { guestControl, guestStateFolder } from './control.ts';
import { GUEST_NODE, GUEST_ROOT } from './files.ts';
import { type Forward, openForward } from './forward.ts';
import { type Guest, inGuest, startGuest } from './guest.ts';
import { ensureGuestImages, type GuestImages } from './images.ts';
import { ensureParts, type GuestParts, neededParts } from './parts.ts';
import { GUEST_PROGRAMS, giveParts } from './programs.ts';
import { borrowGuest } from './shared.ts';

/** Beyond the time that the supervisor in the guest allows itself, whose start takes ten seconds there: it says best what was not ready. */
const GRACE_MS = 30_000;
/** Of a cluster in a guest that lives on. */
const ENDING_MS = 30_000;
const MIB_PER_GUEST = 2048;
const MIB_PER_NODE = 768;
/** For a real control plane, and for what a guest is given (programs.ts), which it has in its memory. */
const MIB_OF_KUBERNETES = 2048;

interface GuestContext {
  readonly options: SandboxOptions;
  readonly artifacts: Artifacts;
  readonly workspace: Workspace;
  readonly parts: GuestParts;
  readonly progress: (message: string) => void;
  readonly onError: (error: unknown) => void;
  /** In milliseconds of performance.now(). */
  readonly deadline: number;
}

/** Where the cluster's supervisor is run from: it ends with this process. */
interface Entry {
  readonly guest: Guest;
  readonly machine: Machine;
  /** Of others too: only the cluster ends. */
  readonly isBorrowed: boolean;
}

/**
 * Brings a cluster up in a guest: in the one that tests share, where there is one (shared.ts), else in its own. When it
 * fails, nothing is left of it.
 * @throws SandboxError
 */
export const startGuestCluster = async (
  options: SandboxOptions,
  { progress = () => {}, onError = () => {}, stop: stopped }: ClusterCallbacks = {},
): Promise<OwnedControl> => {
  const artifacts = findArtifacts();
  const source = (await borrowGuest()) ?? (await ensureGuestImages(artifacts, progress));
  // Before anything starts: it may take minutes.
  const parts = await ensureParts(neededParts(options), artifacts, progress);
  const workspace = await claimWorkspace(options.name, artifacts);
  const deadline = performance.now() + options.timeoutSeconds * 1000;
  const context: GuestContext = { options, artifacts, workspace, parts, progress, onError, deadline };
  const stop = new AbortController();
  void stopped?.then(() => stop.abort(new SandboxError('ERR_SANDBOX_PART', 'stopped')));
  const limit = AbortSignal.timeout(Math.ceil(options.timeoutSeconds * 1000));
  const entering = enterGuest(context, source, AbortSignal.any([stop.signal, limit]));
  let supervisor: ChildProcess | undefined;
  const down = async (): Promise<void> => {
    stop.abort();
    const entry = await entering.catch(() => undefined);
    if (entry?.isBorrowed === true && supervisor !== undefined) await endSupervisor(supervisor);
    await workspace.janitor.clean();
  };
  try {
    const entry = await entering;
    supervisor = startSupervisor(context, entry);
    await unlessAborted(stop.signal, untilUp(context, supervisor));
    return await openForwards(context, entry, supervisor, down);
  } catch (error) {
    await down();
    throw error;
  }
};

/** @param source a guest that runs, or what one is made of */
const enterGuest = async (context: GuestContext, source: Guest | GuestImages, signal: AbortSignal): Promise<Entry> => {
  const entry = await openGuest(context, source, signal);
  await giveParts(context.artifacts.toolbox, entry.guest, context.parts, signal);
  return entry;
};

const openGuest = async (context: GuestContext, source: Guest | GuestImages, signal: AbortSignal): Promise<Entry> => {
  const { options, artifacts, workspace, progress } = context;
  const { folder, cgroup: cgroupRoot } = workspace;
  if ('socket' in source) {
    const log = join(folder.logs, 'guest.init.log');
    const machine = await startNamespaces({ name: 'guest', cgroupRoot, toolbox: artifacts.toolbox, log }, signal);
    return { guest: source, machine, isBorrowed: true };
  }
  progress('starting a guest');
  const memoryMib = MIB_PER_GUEST + MIB_PER_NODE * options.nodes + (options.api === 'kube' ? MIB_OF_KUBERNETES : 0);
  const spec = { artifacts, images: source, folder: folder.path, logs: folder.logs, cgroupRoot, memoryMib, progress };
  const guest = await startGuest(spec, signal);
  return { guest, machine: guest.machine, isBorrowed: false };
};

const startSupervisor = (context: GuestContext, { guest, machine }: Entry): ChildProcess => {
  const { options, artifacts, deadline } = context;
  const timeoutSeconds = Math.max(1, Math.ceil((deadline - performance.now()) / 1000));
  const input: SandboxOptionsInput = {
    ...options,
    kernel: 'host',
    programs: [...options.programs].join(',') || 'none',
    timeoutSeconds,
  };
  const argv = [GUEST_NODE, `${GUEST_ROOT}/dist/sandbox.mjs`, 'supervise', JSON.stringify(input)];
  const command = inGuest(artifacts.toolbox, guest, argv, GUEST_PROGRAMS);
  const { file, args } = machine.enter([command.file, ...command.args], { cgroup: 'supervisor.service' });
  return spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
};

const untilUp = async ({ progress, deadline }: GuestContext, supervisor: ChildProcess): Promise<void> => {
  const limit = AbortSignal.timeout(Math.ceil(Math.max(0, deadline - performance.now()) + GRACE_MS));
  try {
    await unlessAborted(limit, lastReport(supervisor, progress));
  } catch (error) {
    if (!limit.aborted) throw error;
    throw new SandboxError('ERR_SANDBOX_PART', 'the guest is not ready: it does not answer any more', { cause: error });
  }
  // What it says from here on is said to nobody.
  supervisor.stdout?.resume();
  supervisor.stderr?.resume();
};

/** The socket for commands and, when there is an API server, a port and a kubeconfig. */
const openForwards = async (
  context: GuestContext,
  { guest, machine }: Entry,
  supervisor: ChildProcess,
  tearDown: () => Promise<void>,
): Promise<OwnedControl> => {
  const { options, artifacts, workspace, onError } = context;
  const { folder } = workspace;
  const ended = Promise.withResolvers<void>();
  const api = options.programs.has('api') ? await openForward(guest, guestStateFolder(options.name).api) : undefined;
  if (api !== undefined) await writeFile(folder.kubeconfig, await kubeconfigOf(context, guest, api), { mode: 0o600 });
  let failure: string | undefined;
  let isGoingDown = false;
  void Promise.race([endOf(supervisor), machine.ended, guest.ended]).then((how) => {
    if (isGoingDown) return;
    failure = how;
    onError(new SandboxError('ERR_SANDBOX_PART', how));
  });
  const control = guestControl({
    ...{ name: options.name, toolbox: artifacts.toolbox, guest, folder },
    ended: ended.promise,
    failure: () => failure,
    down: async () => {
      isGoingDown = true;
      api?.close();
      await tearDown();
      void close().then(ended.resolve);
    },
  });
  const close = await serveControl(folder.control, control);
  return control;
};

const endOf = (supervisor: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    supervisor.once('exit', (code, signal) =>
      resolve(`the supervisor in the guest ended with ${signal ?? `status ${code}`}`),
    );
  });

/** A real server's has the administrator's certificate in it: it is the guest's, with a port of this machine. */
const kubeconfigOf = async ({ options, artifacts }: GuestContext, guest: Guest, { port }: Forward): Promise<string> => {
  if (options.api !== 'kube') return kubeconfigFor(`http://127.0.0.1:${port}`);
  const inside = await run(inGuest(artifacts.toolbox, guest, ['cat', guestStateFolder(options.name).kubeconfig]));
  return atServer(inside, `https://127.0.0.1:${port}`);
};

/** In order: what it leaves in the guest would be in the way of others. */
const endSupervisor = async (supervisor: ChildProcess): Promise<void> => {
  if (supervisor.exitCode !== null || supervisor.signalCode !== null) return;
  const ended = endOf(supervisor);
  supervisor.kill('SIGTERM');
  const limit = setTimeout(() => supervisor.kill('SIGKILL'), ENDING_MS);
  await ended;
  clearTimeout(limit);
};
