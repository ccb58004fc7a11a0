import { badRequest } from '../status-error.ts';

/**
 * The parts of a request's path with query.
 * @throws StatusError 400
 */
export const splitUrl = (path: string): { segments: string[]; query: URLSearchParams } => {
  const mark = path.indexOf('?');
  const [pathname, query] = mark < 0 ? [path, ''] : [path.slice(0, mark), path.slice(mark + 1)];
  try {
    const segments = pathname
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent);
    return { segments, query: new URLSearchParams(query) };
  } catch {
    throw badRequest(`the path ${pathname} can't be decoded`);
  }
};
