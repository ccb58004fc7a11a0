/** What can be done with a cluster in a guest: asked of the supervisor there, with answers that hold here. */
import { SandboxError } from '../errors.ts';
import type { OwnedControl } from '../supervisor/cluster-control.ts';
import { connectControl } from '../supervisor/control-client.ts';
import { type StateFolder, stateBase, stateFolder } from '../supervisor/state-folder.ts';
import type { GuestStatus } from '../supervisor/types.ts';
import type { Accelerator } from './accelerator.ts';
import { connectInGuest, type Guest, inGuest } from './guest.ts';

export interface GuestControlSpec {
  readonly name: string;
  readonly guest: Guest;
  readonly toolbox: string;
  /** On this machine. */
  readonly folder: StateFolder;
  readonly down: () => Promise<void>;
  readonly ended: Promise<void>;
  /** What happened, once the cluster is gone that should be there. */
  readonly failure: () => string | undefined;
}

/** Of a cluster, in its guest. */
export const guestStateFolder = (name: string): StateFolder => stateFolder(name, stateBase({}));

export const guestControl = (spec: GuestControlSpec): OwnedControl => {
  const { name, guest, toolbox, folder, down, ended } = spec;
  const inner = connectControl(name, () => connectInGuest(guest, guestStateFolder(name).control));
  /** An answer that does not come because the guest is gone says so. */
  const asked = async <T>(question: () => Promise<T>): Promise<T> => {
    refuseFailed(spec);
    try {
      return await question();
    } catch (error) {
      refuseFailed(spec);
      throw error;
    }
  };
  return {
    name,
    down,
    ended,
    status: async () => {
      const status = await asked(() => inner.status());
      const kubeconfig = status.kubeconfig === undefined ? undefined : folder.kubeconfig;
      return { ...status, kubeconfig, guest: guestStatus(guest), folder: folder.path };
    },
    enter: async (target, argv, options) => {
      const { file, args } = await asked(() => inner.enter(target, argv, options));
      return inGuest(toolbox, guest, [file, ...args]);
    },
    kill: (node, program, signal) => asked(() => inner.kill(node, program, signal)),
    reboot: (node) => asked(() => inner.reboot(node)),
  };
};

const refuseFailed = ({ name, failure }: GuestControlSpec): void => {
  const how = failure();
  if (how === undefined) return;
  throw new SandboxError('ERR_SANDBOX_PART', `${how}: take the sandbox "${name}" down`);
};

/** Measured: a cluster is up after two to three seconds on a machine, after 9 in user-mode Linux, and after 17 in a translated guest. */
const SLOWDOWN: Readonly<Record<Accelerator, number>> = { kvm: 2, uml: 4, tcg: 8 };

const guestStatus = ({ accelerator, socket }: Guest): GuestStatus => ({
  accelerator,
  socket,
  slowdown: SLOWDOWN[accelerator],
});
