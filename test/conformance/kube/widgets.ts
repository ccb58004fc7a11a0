/** A custom kind for the cases: each has a group of its own, so that they do not meet. */
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../kube/resources.ts';
import type { KubeClient, KubeObject, ObjectInput, ResourceType } from '../../../kube/types.ts';
import { eventually } from './harness.ts';

const SPEC = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer', minimum: 1, maximum: 10 },
    color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
    name: { type: 'string', pattern: '^[a-z]+$', maxLength: 8 },
    nested: { type: 'object', properties: { on: { type: 'boolean', default: true } } },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    limits: { type: 'object', additionalProperties: { type: 'integer' } },
    port: { 'x-kubernetes-int-or-string': true },
    tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set', maxItems: 3 },
    parts: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['id'],
      items: {
        type: 'object',
        required: ['id'],
        properties: { id: { type: 'string' }, count: { type: 'integer' }, note: { type: 'string' } },
      },
    },
    plain: { type: 'array', items: { type: 'string' } },
    whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
  },
};

const CONDITIONS = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type', 'status'],
    properties: { type: { type: 'string' }, status: { type: 'string' }, reason: { type: 'string' } },
  },
};

const STATUS = { type: 'object', properties: { phase: { type: 'string' }, conditions: CONDITIONS } };

export const widgetCrd = (group: string): ObjectInput => ({
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', required: ['spec'], properties: { spec: SPEC, status: STATUS } } },
      },
    ],
  },
});

export const widgetsOf = (group: string): ResourceType => ({
  group,
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
});

/** Creates the kind, waits until it is served, and removes it afterwards. */
export const withWidgets = async (
  client: KubeClient,
  namespace: string,
  body: (widgets: ResourceType, crd: KubeObject) => Promise<void>,
): Promise<void> => {
  // The namespace's name is unique.
  const group = `${namespace}.example.org`;
  await client.create(CUSTOM_RESOURCE_DEFINITIONS, widgetCrd(group));
  const ref = { name: `widgets.${group}` };
  try {
    const widgets = widgetsOf(group);
    const crd = await eventually(async () => {
      await client.list(widgets);
      return await client.get(CUSTOM_RESOURCE_DEFINITIONS, ref);
    });
    await body(widgets, crd);
  } finally {
    await client.delete(CUSTOM_RESOURCE_DEFINITIONS, ref).catch(() => {});
  }
};

export const widget = (namespace: string, name: string, spec: Readonly<Record<string, unknown>>): ObjectInput => ({
  metadata: { namespace, name },
  spec,
});
