// console/build.ts injects this into every file, for the shorter form of JSX.
export { Fragment, h } from 'preact';
