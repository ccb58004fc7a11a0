/** Plugins of other networks in memory, where the shim would run them: each remembers what it has made. */
import { parseDeviceInfo } from '../../api/device-info.ts';
import type { DeviceInfoFiles } from '../cni/foreign/device-info-files.ts';
import type { PluginCall, PluginHost, PluginOutcome } from '../cni/foreign/plugin-host.ts';
import { type SandboxRecord, sandboxRecordSchema } from '../cni/foreign/record.ts';
import type { RecordStore } from '../cni/foreign/record-store.ts';

export interface SeenCall {
  readonly verb: string;
  readonly type: string;
  readonly ifName: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly env: PluginCall['env'];
}

export class FakePlugins implements PluginHost {
  readonly calls: SeenCall[] = [];
  /** `SANDBOX TYPE INTERFACE` of what ADD has made and DEL has not taken away. */
  readonly made = new Set<string>();
  /** Overrides what a call does, by `VERB TYPE`. */
  readonly answers = new Map<string, PluginOutcome | (() => PluginOutcome)>();

  run({ type, env, stdin }: PluginCall): Promise<PluginOutcome> {
    const { CNI_COMMAND: verb = '', CNI_CONTAINERID: sandbox, CNI_IFNAME: ifName = '' } = env;
    const config = JSON.parse(stdin) as Record<string, unknown>;
    this.calls.push({ verb, type, ifName, config, env });
    const answer = this.answers.get(`${verb} ${type}`);
    if (answer !== undefined) return Promise.resolve(typeof answer === 'function' ? answer() : answer);
    const key = `${sandbox} ${type} ${ifName}`;
    if (verb === 'DEL') this.made.delete(key);
    if (verb === 'CHECK' && !this.made.has(key)) return Promise.resolve(pluginError(`${ifName} is not there`));
    if (verb !== 'ADD') return Promise.resolve(ended(''));
    this.made.add(key);
    return Promise.resolve(ended(JSON.stringify(this.#result(ifName, env['CNI_NETNS'] ?? '', config))));
  }

  /** `ADD bridge net1`, of all calls so far. */
  log(): string[] {
    return this.calls.map(({ verb, type, ifName }) => `${verb} ${type} ${ifName}`);
  }

  /** Each network has addresses of its own. */
  #result(ifName: string, netns: string, { cniVersion, prevResult, name }: Readonly<Record<string, unknown>>): unknown {
    const networks = new Set(this.calls.map(({ config }) => config['name']));
    const first = {
      cniVersion,
      interfaces: [{ name: 'veth0' }, { name: ifName, mac: '02:00:00:00:00:07', sandbox: netns }],
      ips: [{ address: `10.${5 + [...networks].indexOf(name)}.0.7/24`, interface: 1 }],
    };
    return prevResult ?? first;
  }
}

export const ended = (stdout: string, number = 0): PluginOutcome => ({ how: 'exit', number, stdout });
export const pluginError = (msg: string, code = 100): PluginOutcome => ended(JSON.stringify({ code, msg }), 1);

/** Records as the disk would have them: what is read is parsed. */
export const memoryRecords = (): RecordStore & { readonly files: ReadonlyMap<string, string> } => {
  const files = new Map<string, string>();
  return {
    files,
    read: async (containerId): Promise<SandboxRecord | undefined> => {
      const text = files.get(containerId);
      return await Promise.resolve(text === undefined ? undefined : sandboxRecordSchema.parse(JSON.parse(text)));
    },
    write: async (record) => {
      if (record.attachments.length === 0) files.delete(record.containerId);
      else files.set(record.containerId, JSON.stringify(record));
      await Promise.resolve();
    },
    list: () => Promise.resolve([...files.keys()]),
  };
};

/** By their paths; what plugins would have written is set in `texts`. */
export const memoryDeviceInfo = (): DeviceInfoFiles & { readonly texts: Map<string, string> } => {
  const texts = new Map<string, string>();
  const remove = (path: string): Promise<void> => {
    texts.delete(path);
    return Promise.resolve();
  };
  return {
    texts,
    remove,
    prepare: remove,
    pathOf: (containerId, index) => `/devinfo/${containerId}-${index}.json`,
    read: async (path) => {
      const text = texts.get(path);
      return await Promise.resolve(text === undefined ? undefined : parseDeviceInfo(text, path));
    },
  };
};
