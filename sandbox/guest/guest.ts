/**
 * A guest kernel in a process of QEMU or user-mode Linux, and commands in it. That runs in namespaces of its own
 * (machine/namespaces.ts), so that it ends with this process, however that ends. The guest's network reaches into them and no further; a unix socket leads
 * from here to the server in the guest (`toolbox guest-serve`).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { unlessAborted } from '../../base/abort.ts';
import { messageOf } from '../../base/error-message.ts';
import type { Artifacts } from '../artifacts.ts';
import { SandboxError } from '../errors.ts';
import { startNamespaces } from '../machine/namespaces.ts';
import type { CommandLine, Machine } from '../machine/types.ts';
import { partReady, unlessEnded } from '../process/parts.ts';
import { run } from '../process/run.ts';
import { REPORT_FD, startService } from '../process/service.ts';
import { waitForSocket } from '../process/wait-for-path.ts';
import { treeCommand } from '../tree/tree.ts';
import type { Accelerator } from './accelerator.ts';
import { GUEST_LINK, READY } from './first-process.ts';
import { connectFrame } from './frames.ts';
import { ensureGuestImages, type GuestImages } from './images.ts';
import { QEMU_LINK_BATCH, qemuCommand } from './qemu.ts';
import { makeQemuFiles } from './qemu-images.ts';
import { UML_LINK_BATCH, UML_LINK_FEATURES, umlCommand } from './uml.ts';
import { makeUmlFiles } from './uml-images.ts';

/** A guest that runs. */
export interface Guest {
  /** Where it takes commands. */
  readonly socket: string;
  readonly accelerator: Accelerator;
  /** Resolves with what happened when the guest is gone; never for one of another process. */
  readonly ended: Promise<string>;
}

export interface OwnedGuest extends Guest {
  /** The namespaces that its kernel is in. */
  readonly machine: Machine;
}

export interface GuestSpec {
  readonly artifacts: Artifacts;
  readonly images: GuestImages;
  /** For its files and its socket. */
  readonly folder: string;
  readonly logs: string;
  /** Where its cgroup is made; has to be there. */
  readonly cgroupRoot: string;
  readonly memoryMib: number;
  readonly progress?: (message: string) => void;
}

/** With KVM and as user-mode Linux it takes a second. One that fails to boot may also just stand still. */
const NATIVE_BOOT_MS = 60_000;

/**
 * Resolves when it takes commands. Aborting `signal` before ends it. One that does not boot is tried again with what is next
 * best.
 * @throws SandboxError ERR_SANDBOX_PART with the end of what the guest said
 */
export const startGuest = async (spec: GuestSpec, signal: AbortSignal): Promise<OwnedGuest> => {
  const { artifacts, images, progress = () => {} } = spec;
  if (images.others.length === 0) return await bootGuest(spec, signal);
  try {
    return await bootGuest(spec, AbortSignal.any([signal, AbortSignal.timeout(NATIVE_BOOT_MS)]));
  } catch (error) {
    signal.throwIfAborted();
    progress(`a guest does not boot with ${images.accelerator} on this machine: ${messageOf(error)}`);
    return await startGuest({ ...spec, images: await ensureGuestImages(artifacts, progress, images.others) }, signal);
  }
};

const bootGuest = async (
  { artifacts, images, folder, logs, cgroupRoot, memoryMib }: GuestSpec,
  signal: AbortSignal,
): Promise<OwnedGuest> => {
  const command = await kernelCommand(artifacts, images, folder, memoryMib);
  const log = join(logs, 'guest.init.log');
  const machine = await startNamespaces(
    { name: 'guest', hasNetwork: true, cgroupRoot, toolbox: artifacts.toolbox, log },
    signal,
  );
  try {
    await makeLink(machine, images, signal);
    const kernel = startKernel(
      machine.enter([command.file, ...command.args], { cgroup: 'kernel.service' }),
      join(logs, 'guest.console.log'),
    );
    // The way to the guest ends with it: nobody waits for an answer that does not come.
    void kernel.ended.then(() => endMachine(machine));
    await partReady('the guest', kernel.log, unlessAborted(signal, unlessOver(kernel)));
    const socket = join(folder, 'guest.sock');
    await startEntrance(artifacts, machine, socket, logs, signal);
    return { socket, accelerator: images.accelerator, machine, ended: kernel.ended };
  } catch (error) {
    endMachine(machine);
    await machine.ended;
    throw error;
  }
};

const kernelCommand = async (
  artifacts: Artifacts,
  images: GuestImages,
  folder: string,
  memoryMib: number,
): Promise<CommandLine> => {
  const { accelerator, tree } = images;
  if (accelerator !== 'uml') {
    const files = await makeQemuFiles(artifacts, images.qemu, folder);
    return qemuCommand({ images: images.qemu, files, accelerator, memoryMib, tree });
  }
  const scratch = join(folder, 'scratch');
  await mkdir(scratch, { recursive: true });
  return umlCommand({ images: images.uml, files: await makeUmlFiles(artifacts, folder), memoryMib, tree, scratch });
};

const makeLink = async (machine: Machine, { accelerator, tree }: GuestImages, signal: AbortSignal): Promise<void> => {
  const isUml = accelerator === 'uml';
  const ip = treeCommand(tree, 'usr/bin/ip');
  await run(machine.enter([ip.file, ...ip.args, '-batch', '-']), isUml ? UML_LINK_BATCH : QEMU_LINK_BATCH, signal);
  if (!isUml) return;
  const ethtool = treeCommand(tree, 'usr/sbin/ethtool');
  await run(machine.enter([ethtool.file, ...ethtool.args, ...UML_LINK_FEATURES]), undefined, signal);
};

const unlessOver = ({ ready, ended }: Kernel): Promise<void> =>
  Promise.race([
    ready,
    ended.then((how): never => {
      throw new SandboxError('ERR_SANDBOX_MACHINE', how);
    }),
  ]);

interface Kernel {
  readonly log: string;
  readonly ready: Promise<void>;
  readonly ended: Promise<string>;
}

/** It is no service: a guest that is started again is another one. */
const startKernel = ({ file, args }: CommandLine, log: string): Kernel => {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const console = createWriteStream(log, { flags: 'a' });
  // Whoever gives up takes the folder away, maybe before the file is there.
  console.on('error', () => {
    child.stdout.resume();
    child.stderr.resume();
  });
  child.stdout.pipe(console, { end: false });
  child.stderr.pipe(console, { end: false });
  const ready = new Promise<void>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      if (line.includes(READY)) resolve();
    });
  });
  return { log, ready, ended: endOf(child).finally(() => console.end()) };
};

const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(`the guest could not be started: ${error.message}`));
    child.once('close', (code, signal) => resolve(`the guest ended: its kernel with ${signal ?? `status ${code}`}`));
  });

const endMachine = ({ pid }: Machine): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
};

/** A unix socket is one of a folder, not of a network namespace: whoever may open it gets through. */
const startEntrance = async (
  { toolbox }: Artifacts,
  machine: Machine,
  socket: string,
  logs: string,
  signal: AbortSignal,
): Promise<void> => {
  const argv = [toolbox, 'proxy', `unix:${socket}`, `${GUEST_LINK.guest}:${GUEST_LINK.port}`];
  const command = machine.enter(argv, { reportPid: REPORT_FD });
  const service = startService({ name: 'entrance', command, log: join(logs, 'guest.entrance.log') });
  // Its socket's file is in the way of another one.
  service.abandon();
  await partReady('the connection to the guest', service.log, unlessEnded(service, waitForSocket(socket, signal)));
};

/** What runs `argv` in the guest, here: with the caller's streams, terminal and signals. */
export const inGuest = (
  toolbox: string,
  { socket }: Pick<Guest, 'socket'>,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): CommandLine => ({
  file: toolbox,
  args: [
    ...['guest-run', '--socket', socket],
    ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    ...['--', ...argv],
  ],
});

/** A connection to a unix socket of the guest; it is closed when there is none. */
export const connectInGuest = ({ socket }: Pick<Guest, 'socket'>, path: string): Socket => {
  const connection = connect({ path: socket, allowHalfOpen: true });
  connection.write(connectFrame(path));
  return connection;
};
