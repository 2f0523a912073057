/** Extensions of source code. */

export const CODE_EXTENSIONS = [
  'js mjs cjs ts mts cts tsx jsx py pyi go rs java kt kts c h cc cpp cxx hpp hh cs rb php swift scala sh bash zsh fish',
  'ps1 sql css scss less lua r jl pl pm ex exs erl hs ml clj dart groovy gradle zig nim v vue svelte proto graphql tf hcl',
  'cmake xml xsd xsl svg plist dockerfile makefile json5 jsonc tex m mm asm s bat',
].join(' ')

const NAMES = new Set(CODE_EXTENSIONS.split(' '))

/** Whether a file is source code by its name. */
export const isCodeName = (name: string): boolean => NAMES.has(name.toLowerCase().replace(/^.*[./]/, ''))
