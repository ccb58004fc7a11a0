import { expect, it } from 'vitest';
import {
  isAbsentResource,
  isAlreadyExists,
  isConflict,
  isFieldManagerConflict,
  isForbidden,
  isGone,
  isInvalid,
  isMoot,
  isNamespaceTerminating,
  isNotFound,
  isReplaced,
  isTooManyRequests,
  isTransient,
  isUnauthorized,
  isUnavailable,
  KubeError,
} from './errors.ts';

const predicates = {
  isAbsentResource,
  isAlreadyExists,
  isConflict,
  isFieldManagerConflict,
  isForbidden,
  isGone,
  isInvalid,
  isMoot,
  isNamespaceTerminating,
  isNotFound,
  isReplaced,
  isTooManyRequests,
  isTransient,
  isUnauthorized,
  isUnavailable,
};

const status = (code: number, reason?: string, causes?: { reason: string }[]) =>
  new KubeError('ERR_KUBE_STATUS', 'message', { status: code, reason, causes });

const fromClient = (body: string) => new KubeError('ERR_KUBE_STATUS', `list things: ${body} (404)`, { status: 404 });

it.each<[string, unknown, (keyof typeof predicates)[]]>([
  ['401', status(401), ['isUnauthorized']],
  ['403', status(403), ['isForbidden']],
  [
    '403 in a namespace that is being deleted',
    status(403, 'Forbidden', [{ reason: 'NamespaceTerminating' }]),
    ['isForbidden', 'isMoot', 'isNamespaceTerminating'],
  ],
  ['404', status(404), ['isMoot', 'isNotFound']],
  [
    '404 of a resource',
    new KubeError('ERR_KUBE_STATUS', 'the server could not find the requested resource', { status: 404 }),
    ['isAbsentResource', 'isNotFound'],
  ],
  ['404 of a group', fromClient('404 page not found'), ['isAbsentResource', 'isNotFound']],
  ['404 of a proxy', fromClient('<html><h1>404 page not found</h1></html>'), ['isNotFound']],
  ['409 Conflict', status(409, 'Conflict'), ['isConflict']],
  ['409 AlreadyExists', status(409, 'AlreadyExists'), ['isAlreadyExists']],
  [
    '409 of apply',
    status(409, 'Conflict', [{ reason: 'FieldManagerConflict' }]),
    ['isConflict', 'isFieldManagerConflict'],
  ],
  ['410', status(410, 'Expired'), ['isGone']],
  ['422', status(422, 'Invalid'), ['isInvalid']],
  ['429', status(429), ['isTooManyRequests', 'isTransient']],
  ['500', status(500), ['isTransient']],
  ['503', status(503), ['isTransient']],
  ['a lost connection', new KubeError('ERR_KUBE_NETWORK', 'reset'), ['isTransient', 'isUnavailable']],
  ['a timeout', new KubeError('ERR_KUBE_TIMEOUT', 'late'), ['isTransient', 'isUnavailable']],
  ['another object', new KubeError('ERR_KUBE_REPLACED', 'another'), ['isMoot', 'isReplaced']],
  ['garbage', new KubeError('ERR_KUBE_PROTOCOL', 'garbage'), []],
  ['another error', new Error('404'), []],
  ['nothing', undefined, []],
])('%s', (_, error, expected) => {
  const names = Object.entries(predicates).filter(([, predicate]) => predicate(error));
  expect(names.map(([name]) => name).sort()).toEqual([...expected].sort());
});
