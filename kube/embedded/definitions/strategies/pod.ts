import { isRecord, type JsonRecord, recordOr } from '../../../is-record.ts';
import { jsonEqual } from '../../../json-equal.ts';
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../status-error.ts';
import { isDnsLabel, LABEL_MESSAGE } from '../names.ts';
import type { Strategy } from '../types.ts';

/** Pods get the defaults that other programs read, and their spec is all but immutable. */
export const POD_STRATEGY: Strategy = {
  returnsDeleted: true,
  defaults: (object) => ({ ...object, spec: withSpecDefaults(recordOr(object['spec'])) }),
  prepare: (object, old) =>
    old === undefined
      ? { ...object, status: { phase: 'Pending', qosClass: qosClass(recordOr(object['spec'])) } }
      : object,
  validate: (object, old) => [
    ...validateSpec(recordOr(object['spec'])),
    ...(old === undefined ? [] : validateUpdate(recordOr(object['spec']), recordOr(old['spec']))),
  ],
  gracePeriod: (object) => {
    const spec = recordOr(object['spec']);
    const phase = recordOr(object['status'])['phase'];
    // Nobody has to stop what does not run.
    if (!spec['nodeName'] || phase === 'Succeeded' || phase === 'Failed') return 0;
    return typeof spec['terminationGracePeriodSeconds'] === 'number' ? spec['terminationGracePeriodSeconds'] : 30;
  },
};

const withSpecDefaults = (spec: JsonRecord): JsonRecord => ({
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
  enableServiceLinks: true,
  ...spec,
  containers: containersOf(spec, 'containers').map(withContainerDefaults),
  ...(Array.isArray(spec['initContainers'])
    ? { initContainers: containersOf(spec, 'initContainers').map(withContainerDefaults) }
    : {}),
});

const containersOf = (spec: JsonRecord, field: string): JsonRecord[] => {
  const containers = spec[field];
  return Array.isArray(containers) ? containers.filter(isRecord) : [];
};

const withContainerDefaults = (container: JsonRecord): JsonRecord => ({
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: pullPolicy(String(container['image'] ?? '')),
  ...container,
  ...(Array.isArray(container['ports'])
    ? { ports: container['ports'].map((port: unknown) => ({ protocol: 'TCP', ...recordOr(port) })) }
    : {}),
});

const pullPolicy = (image: string): string =>
  /:latest$/.test(image) || !/[:@][^/]*$/.test(image) ? 'Always' : 'IfNotPresent';

/** The three classes by what the containers ask for. */
const qosClass = (spec: JsonRecord): string => {
  const resources = containersOf(spec, 'containers').map((container) => recordOr(container['resources']));
  if (resources.every(({ requests, limits }) => requests === undefined && limits === undefined)) return 'BestEffort';
  const guaranteed = resources.every(({ requests, limits }) => {
    const { cpu, memory } = recordOr(limits);
    return cpu !== undefined && memory !== undefined && (requests === undefined || jsonEqual(requests, limits));
  });
  return guaranteed ? 'Guaranteed' : 'Burstable';
};

const validateSpec = (spec: JsonRecord): FieldError[] => {
  const containers = containersOf(spec, 'containers');
  const restart = spec['restartPolicy'];
  return [
    ...(containers.length === 0 ? [required('spec.containers')] : []),
    ...containers.flatMap((container, i) => validateContainer(container, `spec.containers[${i}]`)),
    ...duplicates(containers),
    ...(['Always', 'OnFailure', 'Never'].includes(String(restart))
      ? []
      : [notSupported('spec.restartPolicy', restart, ['Always', 'OnFailure', 'Never'])]),
  ];
};

const validateContainer = ({ name, image }: JsonRecord, field: string): FieldError[] => [
  ...(name === undefined || name === '' ? [required(`${field}.name`)] : []),
  ...(typeof name === 'string' && name !== '' && !isDnsLabel(name)
    ? [invalidValue(`${field}.name`, name, LABEL_MESSAGE)]
    : []),
  ...(image === undefined || image === '' ? [required(`${field}.image`)] : []),
];

const duplicates = (containers: readonly JsonRecord[]): FieldError[] =>
  containers.flatMap(({ name }, i) =>
    containers.findIndex((other) => other['name'] === name) === i
      ? []
      : [
          {
            field: `spec.containers[${i}].name`,
            reason: 'FieldValueDuplicate' as const,
            message: `Duplicate value: ${JSON.stringify(name)}`,
          },
        ],
  );

/** `spec.nodeName` is set once, by the binding subresource. */
const validateUpdate = (spec: JsonRecord, old: JsonRecord): FieldError[] =>
  jsonEqual(immutablePart(spec), immutablePart(old))
    ? []
    : [
        forbiddenField(
          'spec',
          'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
        ),
      ];

const immutablePart = ({ tolerations: _, activeDeadlineSeconds: __, ...spec }: JsonRecord): JsonRecord => ({
  ...spec,
  containers: containersOf(spec, 'containers').map(({ image: ___, ...rest }) => rest),
  initContainers: containersOf(spec, 'initContainers').map(({ image: ___, ...rest }) => rest),
});
