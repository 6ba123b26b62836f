// Injected into every file by console/build.ts, for the shorter form of JSX.
export { Fragment, h } from 'preact';
