/** Of which commit this program was built: `tools/build.ts` puts it into the bundle. */
declare const __UDN_COMMIT__: string | undefined;

/** `unknown` where it runs from its sources, or was built outside of a checkout. */
export const commitOfBuild = (): string => (typeof __UDN_COMMIT__ === 'string' ? __UDN_COMMIT__ : 'unknown');
