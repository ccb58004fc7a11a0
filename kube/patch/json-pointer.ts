/** JSON pointers, RFC 6901. */

/** `['metadata', 'annotations', 'a/b']` → `/metadata/annotations/a~1b`. */
export const jsonPointer = (path: readonly string[]): string =>
  path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** The inverse. Undefined when the text is no pointer. */
export const pointerPath = (pointer: string): string[] | undefined => {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
};
