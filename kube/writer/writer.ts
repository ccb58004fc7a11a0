/** Writes desired state to the API: coalesced per object, retried, with the writer's name on it. */
import { systemClock } from '../../base/clock.ts';
import { createOutage } from '../outage.ts';
import type { KubeObject, ObjectInput, ObjectRef, Patch } from '../types.ts';
import { patchJsonMapAnnotation } from './json-map-annotation.ts';
import { createObjectQueue } from './object-queue.ts';
import { uidOf, type WriteOperation } from './operations.ts';
import { unlessReplaced } from './replaced.ts';
import type { Writer, WriterOptions } from './types.ts';

export const createWriter = (options: WriterOptions): Writer => {
  const { client, fieldManager, clock = systemClock, random = Math.random, observe = () => {} } = options;
  const queue = createObjectQueue({
    send: (operation, signal) => send(client, fieldManager, operation, signal),
    concurrency: options.concurrency ?? 8,
    perNamespace: options.perNamespace,
    giveUpAfterMs: options.giveUpAfterMs ?? 120_000,
    clock,
    random,
    outage: options.outage ?? createOutage({ clock, random }),
    observe,
  });
  return {
    create: (resource, object, signal) =>
      queue.submit({ kind: 'create', resource, ref: nameOf(object), body: object }, signal),
    apply: (resource, object, apply = {}, signal) =>
      queue.submit(
        {
          kind: 'apply',
          resource,
          ref: nameOf(object),
          body: object,
          subresource: apply.subresource,
          fieldManager: apply.fieldManager ?? fieldManager,
          force: apply.force ?? true,
        },
        signal,
      ),
    merge: (resource, ref, patch, merge = {}, signal) =>
      queue.submit({ kind: 'merge', resource, ref, patch, subresource: merge.subresource }, signal),
    patchJsonMap: (resource, ref, annotation, changes, { known, uid } = {}, signal) =>
      queue.submit({ kind: 'json-map', resource, ref, annotation, changes, known, uid }, signal),
    idle: () => queue.idle(),
  };
};

const nameOf = ({ metadata: { namespace, name } }: ObjectInput): ObjectRef => {
  if (name === undefined) throw new TypeError('a write needs a metadata.name');
  return { namespace, name };
};

const send = (
  client: WriterOptions['client'],
  fieldManager: string,
  operation: WriteOperation,
  signal: AbortSignal,
): Promise<KubeObject> => {
  if (operation.kind === 'json-map') return patchJsonMapAnnotation({ client, fieldManager }, operation, signal);
  if (operation.kind === 'create') {
    return client.create(operation.resource, operation.body, { fieldManager }, signal);
  }
  const { resource, ref, subresource } = operation;
  const write =
    operation.kind === 'apply'
      ? () => client.patch(resource, ref, applyPatch(operation), { subresource }, signal)
      : () => client.patch(resource, ref, mergePatch(operation), { fieldManager, subresource }, signal);
  return unlessReplaced(client, { resource, ref, uid: uidOf(operation) }, write, signal);
};

type Operation<K extends WriteOperation['kind']> = Extract<WriteOperation, { kind: K }>;

const applyPatch = ({ body, fieldManager, force }: Operation<'apply'>): Patch => ({
  type: 'apply',
  body,
  fieldManager,
  force,
});

const mergePatch = ({ patch }: Operation<'merge'>): Patch => ({ type: 'merge', body: patch });
