/** Business tables: what their rows and columns are called, and the values that they may have. */
import type { Query } from '../daemon/tables/query.ts'

export interface BusinessQuestion {
  text: string
  query: Query
}

export interface BusinessTable {
  title: string
  header: string[]
  rows: string[][]
  questions: BusinessQuestion[]
}

export interface Domain {
  title: string
  /** The words for a row and for rows. */
  row: string
  rows: string
  /** The first column names the row. */
  key: { header: string; prefix: string[] }
  categories: { header: string; plural: string; values: string[] }[]
  /** `isMoney`: what is spent or earned. */
  numbers: { header: string; from: number; to: number; scale: number; unit?: string; isMoney?: true }[]
  date: string
  flag: string
}

export const DOMAINS: readonly Domain[] = [
  {
    title: 'sales.csv',
    row: 'sale',
    rows: 'sales',
    key: { header: 'Sale ID', prefix: ['S'] },
    date: 'Date',
    flag: 'Refunded',
    categories: [
      { header: 'Region', plural: 'regions', values: ['North', 'South', 'East', 'West'] },
      { header: 'Product', plural: 'products', values: ['Tablet', 'Phone', 'Camera', 'Printer'] },
      { header: 'Status', plural: 'statuses', values: ['completed', 'cancelled', 'open', 'returned'] },
    ],
    numbers: [
      { header: 'Revenue', from: 100, to: 9000, scale: 2, unit: '€', isMoney: true },
      { header: 'Units', from: 1, to: 60, scale: 0 },
    ],
  },
  {
    title: 'tickets.csv',
    row: 'ticket',
    rows: 'tickets',
    key: { header: 'Ticket', prefix: ['T'] },
    date: 'Opened',
    flag: 'Escalated',
    categories: [
      { header: 'Priority', plural: 'priorities', values: ['low', 'medium', 'high', 'critical'] },
      { header: 'Assignee', plural: 'assignees', values: ['Kim', 'Lara', 'Omar', 'Pia'] },
      { header: 'State', plural: 'states', values: ['open', 'closed', 'waiting'] },
    ],
    numbers: [
      { header: 'Hours', from: 1, to: 90, scale: 1 },
      { header: 'Comments', from: 0, to: 30, scale: 0 },
    ],
  },
  {
    title: 'projects.xlsx',
    row: 'project',
    rows: 'projects',
    key: { header: 'Project', prefix: ['Apollo', 'Borealis', 'Comet', 'Delta', 'Echo'] },
    date: 'Start',
    flag: 'Finished',
    categories: [
      { header: 'Client', plural: 'clients', values: ['Nordwind', 'Sunrise Foods', 'Metro AG', 'Bluebird'] },
      { header: 'Manager', plural: 'managers', values: ['Ruth Adler', 'Tom Brandt', 'Yuki Sato'] },
    ],
    numbers: [
      { header: 'Budget', from: 5000, to: 400000, scale: 0, unit: '$', isMoney: true },
      { header: 'Team size', from: 2, to: 25, scale: 0 },
    ],
  },
  {
    title: 'staff.csv',
    row: 'employee',
    rows: 'employees',
    key: { header: 'Name', prefix: ['Alice', 'Bruno', 'Carla', 'Diego', 'Emma'] },
    date: 'Hired',
    flag: 'Part-time',
    categories: [
      { header: 'Department', plural: 'departments', values: ['Research', 'Logistics', 'Human Resources', 'IT'] },
      { header: 'Office', plural: 'offices', values: ['Vienna', 'Oslo', 'Lisbon'] },
    ],
    numbers: [
      { header: 'Salary', from: 30000, to: 120000, scale: 0 },
      { header: 'Age', from: 20, to: 64, scale: 0 },
    ],
  },
  {
    title: 'expenses.csv',
    row: 'expense',
    rows: 'expenses',
    key: { header: 'No', prefix: ['E'] },
    date: 'Paid on',
    flag: 'Approved',
    categories: [
      { header: 'Category', plural: 'categories', values: ['Travel', 'Meals', 'Software', 'Training'] },
      { header: 'Cost center', plural: 'cost centers', values: ['Alpha', 'Beta', 'Gamma'] },
    ],
    numbers: [
      { header: 'Amount', from: 5, to: 3000, scale: 2, unit: 'EUR', isMoney: true },
      { header: 'VAT', from: 1, to: 300, scale: 2 },
    ],
  },
  {
    title: 'inventory.csv',
    row: 'item',
    rows: 'items',
    key: { header: 'Item', prefix: ['Chair', 'Desk', 'Lamp', 'Shelf', 'Sofa'] },
    date: 'Last counted',
    flag: 'Discontinued',
    categories: [
      { header: 'Warehouse', plural: 'warehouses', values: ['Hamburg', 'Lyon', 'Porto'] },
      { header: 'Supplier', plural: 'suppliers', values: ['Holzwerk', 'LightCo', 'Casa Bella'] },
    ],
    numbers: [
      { header: 'Quantity', from: 0, to: 900, scale: 0 },
      { header: 'Price', from: 5, to: 800, scale: 2, unit: '$' },
    ],
  },
  {
    title: 'customers.csv',
    row: 'customer',
    rows: 'customers',
    key: { header: 'Company', prefix: ['Aero', 'Bio', 'Cargo', 'Data', 'Eco'] },
    date: 'Since',
    flag: 'Active',
    categories: [
      { header: 'Country', plural: 'countries', values: ['Austria', 'Norway', 'Portugal', 'Poland'] },
      { header: 'Segment', plural: 'segments', values: ['enterprise', 'startup', 'public'] },
    ],
    numbers: [
      { header: 'Orders', from: 1, to: 80, scale: 0 },
      { header: 'Turnover (EUR)', from: 500, to: 90000, scale: 2, isMoney: true },
    ],
  },
  {
    title: 'invoices.csv',
    row: 'invoice',
    rows: 'invoices',
    key: { header: 'Invoice number', prefix: ['R'] },
    date: 'Due date',
    flag: 'Paid',
    categories: [
      { header: 'Vendor', plural: 'vendors', values: ['PaperPlus', 'NetPower', 'CleanIt', 'Fuel & Go'] },
      { header: 'Currency', plural: 'currencies', values: ['EUR', 'USD', 'GBP'] },
    ],
    numbers: [
      { header: 'Total', from: 40, to: 7000, scale: 2, isMoney: true },
      { header: 'Discount', from: 0, to: 20, scale: 0, unit: '%' },
    ],
  },
]

export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
