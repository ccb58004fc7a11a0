/** How long a tenant waits for a network while another one makes and deletes networks as fast as he can. */
import { USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { layer3Udn, tenant } from '../../cluster-manager/testing/objects.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../kube/resources.ts';
import type { KubeClient, KubeObject, ObjectInput } from '../../kube/types.ts';

/** Requests under way of the tenant with the loop. */
const WORKERS = 4;
const ROUNDS = 15;
/** The manager's own for one network: finalizer, NAD, status. */
const WRITES = 3;

export interface Waiting {
  /** Milliseconds from the request to NetworkCreated: the median. */
  readonly network: number;
  /** Of as many bare writes, one after the other: what the API server itself is slowed by. */
  readonly bare: number;
}

export interface LoopMeasure {
  readonly alone: Waiting;
  readonly withLoop: Waiting;
  /** Networks that were made and deleted meanwhile. */
  readonly loops: number;
}

export const measureLoop = async (client: KubeClient): Promise<LoopMeasure> => {
  for (const name of ['patient', 'looper']) await client.create(NAMESPACES, tenant(name) as ObjectInput);
  const stop = new AbortController();
  const networks = createReflector({
    client,
    resource: USER_DEFINED_NETWORKS,
    namespace: 'patient',
    project: isCreated,
  });
  const reflecting = networks.run(stop.signal);
  const measure = async (round: string): Promise<Waiting> => {
    const times: { network: number; bare: number }[] = [];
    for (let n = 0; n < ROUNDS; n += 1) {
      times.push({
        network: await makeNetwork(client, networks, `${round}-${n}`),
        bare: await writeBare(client, `${round}-${n}`),
      });
    }
    return { network: median(times.map(({ network }) => network)), bare: median(times.map(({ bare }) => bare)) };
  };
  try {
    await networks.whenSynced(stop.signal);
    await measure('warm');
    const alone = await measure('alone');
    const loop = startLoop(client);
    const withLoop = await measure('loop').finally(loop.end);
    return { alone, withLoop, loops: loop.count() };
  } finally {
    stop.abort();
    await reflecting;
  }
};

const isCreated = ({ status }: KubeObject): boolean => {
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] };
  return conditions.some((one) => one.type === 'NetworkCreated' && one.status === 'True');
};

const networkOf = (key: string): ObjectInput => layer3Udn(key, ['10.40.0.0/16'], { role: 'Secondary' }) as ObjectInput;

type Networks = Pick<ReturnType<typeof createReflector<boolean>>, 'subscribe' | 'get'>;

const makeNetwork = async (client: KubeClient, networks: Networks, name: string): Promise<number> => {
  const key = `patient/${name}`;
  const made = Promise.withResolvers<void>();
  const end = networks.subscribe((change) => {
    if (change.key === key && change.after === true) made.resolve();
  });
  const started = performance.now();
  await client.create(USER_DEFINED_NETWORKS, networkOf(key));
  await made.promise;
  end();
  return performance.now() - started;
};

const writeBare = async (client: KubeClient, name: string): Promise<number> => {
  const ref = { namespace: 'patient', name };
  const started = performance.now();
  await client.create(CONFIG_MAPS, { metadata: ref });
  for (let n = 0; n < WRITES; n += 1)
    await client.patch(CONFIG_MAPS, ref, { type: 'merge', body: { data: { n: `${n}` } } });
  return performance.now() - started;
};

const startLoop = (client: KubeClient) => {
  let isOn = true;
  let count = 0;
  const worker = async (): Promise<void> => {
    while (isOn) {
      const name = `n${count}`;
      count += 1;
      await client.create(USER_DEFINED_NETWORKS, networkOf(`looper/${name}`));
      await client.delete(USER_DEFINED_NETWORKS, { namespace: 'looper', name });
    }
  };
  const workers = Array.from({ length: WORKERS }, worker);
  const end = async (): Promise<void> => {
    isOn = false;
    await Promise.all(workers);
  };
  return { end, count: () => count };
};

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
