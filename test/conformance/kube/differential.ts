/**
 * The same random requests to two API servers, one after the other, and what they answered differently: how the embedded
 * server was brought to what a real one does. Objects are compared with their field owners; uids, versions, times and
 * addresses are left out, and so are messages.
 */
import { KubeError } from '../../../kube/errors.ts';
import { isRecord, type JsonRecord, recordOr } from '../../../kube/is-record.ts';
import { CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, SERVICES } from '../../../kube/resources.ts';
import type { KubeClient, ObjectInput, Patch, ResourceType } from '../../../kube/types.ts';
import { eventually } from './harness.ts';
import { createChance, metadata, SPECS, status } from './random-objects.ts';
import { widgetCrd, widgetsOf } from './widgets.ts';

export interface Difference {
  readonly seed: number;
  /** What was asked for, up to the request that was answered differently. */
  readonly requests: readonly string[];
  readonly reference: unknown;
  readonly subject: unknown;
}

export interface DifferentialOptions {
  readonly reference: KubeClient;
  readonly subject: KubeClient;
  readonly seeds: readonly number[];
  /** Requests per seed. */
  readonly steps: number;
}

const GROUP = 'differential.example.org';
const WIDGETS = widgetsOf(GROUP);

/** A seed ends at its first difference: after that the servers are not in the same state. */
export const runKubeDifferential = async (options: DifferentialOptions): Promise<Difference[]> => {
  const clients = [options.reference, options.subject];
  await Promise.all(clients.map(installWidgets));
  const differences: Difference[] = [];
  for (const seed of options.seeds) {
    const found = await runSeed(clients, seed, options.steps);
    if (found !== undefined) differences.push(found);
  }
  return differences;
};

const installWidgets = async (client: KubeClient): Promise<void> => {
  await client.create(CUSTOM_RESOURCE_DEFINITIONS, widgetCrd(GROUP)).catch(() => {});
  await eventually(() => client.list(WIDGETS));
};

const runSeed = async (
  clients: readonly KubeClient[],
  seed: number,
  steps: number,
): Promise<Difference | undefined> => {
  const chance = createChance(seed);
  const requests: string[] = [];
  const namespaces = await Promise.all(
    clients.map(async (client) => {
      const { metadata: created } = await client.create(NAMESPACES, { metadata: { generateName: 'differential-' } });
      return created.name;
    }),
  );
  try {
    for (let step = 0; step < steps; step += 1) {
      const request = randomRequest(chance);
      requests.push(`${request.verb} ${request.resource.plural}/${request.name} ${JSON.stringify(request.body)}`);
      const [reference, subject] = await Promise.all(
        clients.map((client, i) => outcomeOf(send(client, namespaces[i] ?? '', request))),
      );
      if (JSON.stringify(reference) !== JSON.stringify(subject)) return { seed, requests, reference, subject };
    }
    return undefined;
  } finally {
    await Promise.all(clients.map((client, i) => cleanUp(client, namespaces[i] ?? '')));
  }
};

const VERBS = [
  ...['create', 'create', 'put', 'overwrite', 'merge', 'merge', 'json', 'strategic'],
  ...['apply', 'apply', 'apply', 'apply', 'delete', 'release', 'status', 'applyStatus'],
] as const;

interface RandomRequest {
  readonly verb: (typeof VERBS)[number];
  readonly resource: ResourceType;
  readonly name: string;
  readonly body: JsonRecord;
  readonly fieldManager: string;
  readonly force: boolean;
  readonly patch: Patch;
}

type Chance = ReturnType<typeof createChance>;

const JSON_PATCHES: readonly Patch[] = [
  { type: 'json', operations: [{ op: 'add', path: '/metadata/labels', value: { l1: 'z' } }] },
  { type: 'json', operations: [{ op: 'remove', path: '/metadata/labels/l1' }] },
  { type: 'json', operations: [{ op: 'replace', path: '/data/k1', value: '9' }] },
  { type: 'json', operations: [{ op: 'add', path: '/spec/parts/-', value: { id: 'z' } }] },
  {
    type: 'json',
    operations: [
      { op: 'test', path: '/data/k1', value: '1' },
      { op: 'remove', path: '/data/k1' },
    ],
  },
  { type: 'json', operations: [{ op: 'remove', path: '/metadata/finalizers/0' }] },
  { type: 'json', operations: [{ op: 'remove', path: '/metadata/managedFields' }] },
  { type: 'json', operations: [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }] },
];

const randomRequest = (chance: Chance): RandomRequest => {
  const resource = chance.pick([CONFIG_MAPS, SERVICES, WIDGETS]);
  const verb = chance.pick(VERBS);
  const ofStatus = verb === 'status' || verb === 'applyStatus';
  const isApply = verb === 'apply' || verb === 'applyStatus';
  return {
    // Only widgets have a status that is known to both servers in all its fields.
    verb: ofStatus && resource !== WIDGETS ? 'merge' : verb,
    resource,
    name: chance.pick(['a', 'b']),
    body: {
      metadata: metadata(chance),
      ...SPECS[resource.plural as keyof typeof SPECS](chance, isApply),
      ...(ofStatus && resource === WIDGETS ? { status: status(chance) } : {}),
    },
    fieldManager: chance.pick(['m1', 'm2', 'm3']),
    force: chance.maybe(0.4),
    patch: chance.pick(JSON_PATCHES),
  };
};

const send = async (client: KubeClient, namespace: string, request: RandomRequest): Promise<unknown> => {
  const { verb, resource, name, body, fieldManager, force, patch } = request;
  const ref = { namespace, name };
  const named: ObjectInput = { ...body, metadata: { ...recordOr(body['metadata']), ...ref } };
  const statusOnly: ObjectInput = { metadata: named.metadata, status: body['status'] };
  const status = { subresource: 'status', fieldManager };
  switch (verb) {
    case 'create':
      return client.create(resource, named, { fieldManager });
    case 'overwrite':
      return client.update(resource, named, { fieldManager });
    case 'put':
      return client.update(resource, await changed(client, resource, ref, body), { fieldManager });
    case 'status':
      return client.update(resource, await changed(client, resource, ref, body), status);
    case 'merge':
      return client.patch(resource, ref, { type: 'merge', body }, { fieldManager });
    case 'strategic':
      return client.patch(resource, ref, { type: 'strategic', body }, { fieldManager });
    case 'json':
      return client.patch(resource, ref, patch, { fieldManager });
    case 'apply':
      return client.patch(resource, ref, { type: 'apply', fieldManager, force, body: named });
    case 'applyStatus':
      return client.patch(resource, ref, { type: 'apply', fieldManager, force, body: statusOnly }, status);
    case 'delete':
      return client.delete(resource, ref);
    case 'release':
      return client.patch(resource, ref, { type: 'merge', body: { metadata: { finalizers: null } } }, { fieldManager });
  }
};

/** The object as it is, with the requested parts in place of its own: what read-modify-write clients send. */
const changed = async (
  client: KubeClient,
  resource: ResourceType,
  ref: { namespace: string; name: string },
  body: JsonRecord,
): Promise<ObjectInput> => {
  const current = await client.get(resource, ref);
  const spec = resource === SERVICES ? { spec: { ...recordOr(current['spec']), ...recordOr(body['spec']) } } : {};
  return { ...current, ...body, ...spec, metadata: { ...current.metadata, ...recordOr(body['metadata']) } };
};

const cleanUp = async (client: KubeClient, namespace: string): Promise<void> => {
  for (const resource of [CONFIG_MAPS, SERVICES, WIDGETS]) {
    for (const name of ['a', 'b']) {
      const release: Patch = { type: 'merge', body: { metadata: { finalizers: null } } };
      await client.patch(resource, { namespace, name }, release).catch(() => {});
    }
  }
  await client.delete(NAMESPACES, { name: namespace }).catch(() => {});
};

const outcomeOf = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    (value) => ({ ok: comparable(value) }),
    (error: unknown) => {
      if (!(error instanceof KubeError)) throw error;
      const causes = error.causes.map(({ field, reason }) => `${field} ${reason}`);
      return { status: error.status, reason: error.reason, causes: [...new Set(causes)].sort() };
    },
  );

const VARYING = ['uid', 'resourceVersion', 'creationTimestamp', 'namespace'];

const comparable = (value: unknown): unknown => {
  if (!isRecord(value) || value['kind'] === 'Status') return 'done';
  const { managedFields, ...meta } = recordOr(value['metadata']);
  const owners = (Array.isArray(managedFields) ? managedFields : []).map(({ time: _, fieldsV1, ...entry }) =>
    JSON.stringify(sorted({ ...entry, fieldsV1: withoutContainers(fieldsV1, 'k:') })),
  );
  const stable = Object.entries(meta).filter(([key]) => !VARYING.includes(key));
  if ('deletionTimestamp' in meta) stable.push(['deletionTimestamp', 'set']);
  return sorted({ ...withoutAddresses(value), metadata: { ...Object.fromEntries(stable), owners: owners.sort() } });
};

/** Whether somebody owns an object of fields itself is of no consequence, but for the items of lists. */
const withoutContainers = (fields: unknown, element: string): unknown =>
  Object.fromEntries(
    Object.entries(recordOr(fields))
      .filter(([key]) => key !== '.' || element.startsWith('k:'))
      .map(([key, child]) => [key, withoutContainers(child, key)]),
  );

const ADDRESSES = ['clusterIP', 'clusterIPs', 'nodePort', 'healthCheckNodePort'];

const withoutAddresses = (value: unknown): JsonRecord =>
  Object.fromEntries(
    Object.entries(recordOr(value)).map(([key, child]) => {
      if (ADDRESSES.includes(key)) return [key, 'given'];
      if (Array.isArray(child)) return [key, child.map((item) => (isRecord(item) ? withoutAddresses(item) : item))];
      return [key, isRecord(child) ? withoutAddresses(child) : child];
    }),
  );

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
};
