/** Merge keys of the built-in kinds, from the `listType`, `listMapKey` and `mapType` markers of k8s.io/api. */
import { ANY, type FieldSchema, LEAF, listBy, mapOf, OBJECT_META, SET } from '../apply/field-schema.ts';

const kind = (fields: Readonly<Record<string, FieldSchema>>): FieldSchema =>
  mapOf({ apiVersion: LEAF, kind: LEAF, metadata: OBJECT_META, ...fields });

const CONDITIONS = listBy(['type']);

const CONTAINER = mapOf({
  env: listBy(['name'], mapOf({ valueFrom: mapOf({ configMapKeyRef: LEAF, secretKeyRef: LEAF, fieldRef: LEAF }) })),
  ports: listBy(['containerPort', 'protocol=TCP']),
  volumeMounts: listBy(['mountPath']),
  volumeDevices: listBy(['devicePath']),
});

const POD_SPEC = mapOf({
  containers: listBy(['name'], CONTAINER),
  initContainers: listBy(['name'], CONTAINER),
  ephemeralContainers: listBy(['name'], CONTAINER),
  volumes: listBy(['name']),
  imagePullSecrets: listBy(['name']),
  hostAliases: listBy(['ip']),
  topologySpreadConstraints: listBy(['topologyKey', 'whenUnsatisfiable']),
  nodeSelector: LEAF,
});

const POD_TEMPLATE = mapOf({ metadata: OBJECT_META, spec: POD_SPEC });

export const POD_FIELDS = kind({
  spec: POD_SPEC,
  status: mapOf({ conditions: CONDITIONS, podIPs: listBy(['ip']), hostIPs: LEAF }),
});

export const WORKLOAD_FIELDS = kind({
  spec: mapOf({ selector: LEAF, template: POD_TEMPLATE }),
  status: mapOf({ conditions: CONDITIONS }),
});

export const SERVICE_FIELDS = kind({
  spec: mapOf({ ports: listBy(['port', 'protocol=TCP']), selector: LEAF }),
  status: mapOf({ conditions: CONDITIONS }),
});

export const NODE_FIELDS = kind({
  spec: mapOf({ podCIDRs: SET }),
  status: mapOf({ conditions: CONDITIONS, addresses: listBy(['type']) }),
});

export const NETWORK_POLICY_FIELDS = kind({ spec: mapOf({ podSelector: LEAF }) });

export const SERVICE_ACCOUNT_FIELDS = kind({ secrets: listBy(['name']) });

export const EVENT_FIELDS = kind({ involvedObject: LEAF, regarding: LEAF, related: LEAF });

/** Kinds whose status has conditions, and kinds without anything to merge. */
export const PLAIN_FIELDS = kind({ status: mapOf({ conditions: CONDITIONS }), spec: ANY });
