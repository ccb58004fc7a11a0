/** Services whose endpoints change all the time, in a script that can be repeated, and what they have to answer afterwards. */

import { FAMILIES, type Family } from '../../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import type { Target } from '../../../oracles/reachability/service-clients.ts';
import { applyAndWait, readPod } from '../cluster/cluster.ts';
import type { Random } from '../faults/random.ts';
import { addressOfFamily } from '../packets/packets.ts';
import { clusterIps, service, type WrittenEndpoint, writtenSlice } from './services.ts';

export interface ChurnOptions {
  readonly sandbox: Sandbox;
  readonly random: Random;
  readonly tenants: readonly string[];
  readonly perTenant: number;
  /** Pods that may be endpoints, by tenant: names. */
  readonly backends: (tenant: string) => readonly string[];
  /** What else a Service says of itself. */
  readonly spec: (tenant: string, index: number) => Readonly<Record<string, unknown>>;
}

interface Half {
  readonly tenant: string;
  readonly name: string;
  readonly family: Family;
  desired: readonly string[];
}

export interface Answers {
  readonly tenant: string;
  readonly name: string;
  readonly targets: readonly Target[];
  /** Nobody: it refuses. */
  readonly names: readonly string[];
}

export class ServiceChurn {
  readonly #options: ChurnOptions;
  readonly #halves: readonly Half[];
  readonly #addresses = new Map<string, Readonly<Record<Family, string>>>();

  private constructor(options: ChurnOptions) {
    this.#options = options;
    this.#halves = options.tenants.flatMap((tenant) =>
      Array.from({ length: options.perTenant }, (_, index) => `churn-${index}`).flatMap((name) =>
        FAMILIES.map((family): Half => ({ tenant, name, family, desired: [] })),
      ),
    );
  }

  /** The Services, without endpoints. */
  static async start(options: ChurnOptions): Promise<ServiceChurn> {
    const churn = new ServiceChurn(options);
    const { sandbox, tenants, perTenant, backends, spec } = options;
    for (const key of tenants.flatMap((tenant) => backends(tenant).map((name) => `${tenant}/${name}`))) {
      const pod = await readPod(sandbox, key);
      churn.#addresses.set(key, { 4: addressOfFamily(pod, 4), 6: addressOfFamily(pod, 6) });
    }
    await applyAndWait(
      sandbox,
      tenants.flatMap((tenant) =>
        Array.from({ length: perTenant }, (_, index) =>
          service(tenant, `churn-${index}`, { spec: spec(tenant, index) }),
        ),
      ),
    );
    return churn;
  }

  /** One slice of one Service gets other endpoints, perhaps none. @returns what it did */
  async step(): Promise<string> {
    const { random, backends, sandbox } = this.#options;
    const half = random.pick(this.#halves);
    half.desired = backends(half.tenant).filter(() => random.next() < 0.6);
    await (await sandbox.objects()).apply([this.#slice(half)]);
    return `${half.tenant}/${half.name} IPv${half.family}: ${half.desired.join(' ') || 'nobody'}`;
  }

  /** By the ClusterIPs, and by what `more` gives. */
  async answers(more: (tenant: string, name: string, family: Family) => readonly Target[]): Promise<Answers[]> {
    const all = this.#halves.map(async ({ tenant, name, family, desired }): Promise<Answers> => {
      const ips = await clusterIps(this.#options.sandbox, `${tenant}/${name}`);
      const own = ips.filter((ip) => ip.includes(':') === (family === 6));
      const targets = own.flatMap((ip): Target[] => [
        { ip, port: 80, protocol: 'TCP' },
        { ip, port: 53, protocol: 'UDP' },
      ]);
      return { tenant, name, targets: [...targets, ...more(tenant, name, family)], names: desired };
    });
    return Promise.all(all);
  }

  #slice({ tenant, name, family, desired }: Half): ManifestObject {
    const endpoints = desired.map((pod): WrittenEndpoint => {
      const address = this.#addresses.get(`${tenant}/${pod}`)?.[family];
      if (address === undefined) throw new Error(`${pod} has no address`);
      return { address };
    });
    // Also of a slice that says nobody.
    return { ...writtenSlice(tenant, `${name}-${family}`, name, endpoints), addressType: `IPv${family}` };
  }
}
